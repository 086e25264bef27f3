import { readFile } from 'node:fs/promises';
import { type CheckpointCopy, LogCopyError } from '../../../domain/log/checkpoint-copy.js';
import { boundedFetch } from '../../process/bounded-fetch.js';
import { replaceFile } from '../../process/replace-file.js';
import { basicCredentials } from './basic-credentials.js';

/** Beyond this a response of a URL is waited for no longer, milliseconds. */
const TIMEOUT_MS = 10_000;
/** The most that is read of one, bytes: a signed note. */
const MAX_COPY_BYTES = 64 * 1024;

const send = boundedFetch(MAX_COPY_BYTES);

/**
 * The copy that the settings ask for.
 *
 * @param place a path, or an `https` or `http` URL that answers GET and takes PUT
 */
export function createCheckpointCopy(place: string | undefined): CheckpointCopy | undefined {
  if (place === undefined) return undefined;
  return /^https?:\/\//.test(place) ? copyAtUrl(new URL(place)) : copyInFile(place);
}

function copyInFile(path: string): CheckpointCopy {
  return {
    async read() {
      try {
        return await readFile(path, 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw failed(`${path} cannot be read`, error);
      }
    },
    async write(note) {
      try {
        await replaceFile(path, note);
      } catch (error) {
        throw failed(`${path} cannot be written`, error);
      }
    },
  };
}

function copyAtUrl(url: URL): CheckpointCopy {
  const { address, headers } = basicCredentials(url);
  const ask = async (method: 'GET' | 'PUT', body?: string): Promise<Response> => {
    try {
      return await send(address, {
        method,
        headers: { ...headers, ...(body !== undefined && { 'content-type': 'text/plain; charset=utf-8' }) },
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
        body,
      });
    } catch (error) {
      throw failed(`${address.origin} does not respond`, error);
    }
  };
  return {
    async read() {
      const answer = await ask('GET');
      if (answer.status === 404) return undefined;
      if (!answer.ok) throw failed(`${address.origin} responded with ${answer.status}`);
      return answer.text().catch((error: unknown) => {
        throw failed(`${address.origin} responded with no checkpoint`, error);
      });
    },
    async write(note) {
      const answer = await ask('PUT', note);
      await answer.body?.cancel();
      if (!answer.ok) throw failed(`${address.origin} responded with ${answer.status}`);
    },
  };
}

function failed(how: string, cause?: unknown): LogCopyError {
  return new LogCopyError(`the copy of the last checkpoint: ${how}`, { cause });
}
