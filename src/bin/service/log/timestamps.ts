import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import { Agent, request } from 'undici';
import type { Settings } from '../../../config/schema.js';
import type { Stamp } from '../../../models/log/log.js';
import { readResponse } from '../../process/read-response.js';
import { basicCredentials } from './basic-credentials.js';
import type { LogWatch } from './log-watch.js';

/** A service is not waited for longer, milliseconds. */
const TIMEOUT_MS = 5_000;

/**
 * Asks a time-stamping service about each checkpoint (RFC 3161, over HTTPS). If it does not answer, it is asked again
 * with the next run: a log does not stand still because a service does.
 */
export function createStamp(
  { HOOKLINE_LOG_TIMESTAMP_URL: service, HOOKLINE_EXTRA_CA_FILE: caFile }: Settings,
  watch: Pick<LogWatch, 'stamped' | 'notStamped'>,
): Stamp | undefined {
  if (service === undefined) return undefined;
  const { address, headers } = basicCredentials(new URL(service));

  const post = async (body: Buffer, most: number): Promise<Buffer> => {
    const ca = caFile ? [...rootCertificates, await readFile(caFile, 'utf8')] : undefined;
    const agent = new Agent({ ...(ca && { connect: { ca } }) });
    try {
      const answer = await request(address, {
        dispatcher: agent,
        method: 'POST',
        headers: {
          'content-type': 'application/timestamp-query',
          accept: 'application/timestamp-reply',
          'accept-encoding': 'identity',
          ...headers,
        },
        body,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (answer.statusCode !== 200) throw new Error(`it responded with ${answer.statusCode}`);
      return await readResponse(answer.body as AsyncIterable<Buffer>, most);
    } finally {
      await agent.destroy();
    }
  };

  return async (note) => {
    try {
      // The ASN.1 parser is loaded only when needed.
      const { checkAnswer, MAX_TIMESTAMP_BYTES, timestampQuery } = await import(
        '../../../../packages/tlog/src/timestamp.js'
      );
      const { body, nonce } = timestampQuery(note);
      const answer = await post(body, MAX_TIMESTAMP_BYTES);
      watch.stamped(await checkAnswer(answer, note, nonce));
      return answer.toString('base64');
    } catch (error) {
      watch.notStamped(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  };
}
