import {
  cosignaturesBy,
  NoteError,
  type NoteVerifier,
  readWitnessKey,
  writeAddCheckpoint,
} from '../../../../packages/tlog/src/index.js';
import { splitList } from '../../../config/parse.js';
import { cutText } from '../../../domain/text/unicode.js';
import type { Cosign } from '../../../models/log/log.js';
import { boundedFetch } from '../../process/bounded-fetch.js';

/** Characters of a refusal that are told. */
const MAX_TOLD = 200;
/** Statuses of a witness for a checkpoint that no key of the log has signed, and for a proof that does not hold. */
const REFUSALS = new Set([403, 422]);
/** A witness is not waited for longer, milliseconds. */
const TIMEOUT_MS = 5_000;
/** The most that is read of its response, bytes: cosignature lines, a size, or why it refuses. */
const MAX_WITNESS_BYTES = 16 * 1024;

const post = boundedFetch(MAX_WITNESS_BYTES);

/** A witness says that the log does not continue what it saw, or is not the one that it knows. */
class RefusalError extends Error {
  override readonly name = 'RefusalError';
}

/** Where a witness is, and its public key. */
export interface WitnessAddress {
  /** Part of the URL before `/add-checkpoint`. */
  url: string;
  key: NoteVerifier;
}

/** Reads `<key>@<url>`, several separated by commas. @throws NoteError */
export function parseWitnesses(text: string): WitnessAddress[] {
  return splitList(text).map((part) => {
    const [, key, url] = /^(.+?)@(https?:\/\/\S+?)\/?$/.exec(part) ?? [];
    if (key === undefined || url === undefined)
      throw new NoteError('HOOKLINE_LOG_WITNESSES must read name+id+key@https://witness.example.com');
    return { key: readWitnessKey(key), url };
  });
}

/**
 * Asks witnesses that have not cosigned a checkpoint yet for their cosignatures (C2SP tlog-witness). One that does not
 * answer is asked again with the next checkpoint: a log does not stand still because a witness does.
 *
 * @param failed is told why a witness did not cosign, and whether it says that something is wrong with the log
 */
export function createCosign(
  witnesses: readonly WitnessAddress[],
  failed: (witness: NoteVerifier, why: string, isRefusal: boolean) => void,
): Cosign | undefined {
  if (witnesses.length === 0) return undefined;
  /** Size that each witness saw last, as far as this process knows. */
  const sizes = new Map<string, number>();

  const ask = async (
    { key, url }: WitnessAddress,
    { note, size, proofFrom }: Parameters<Cosign>[0],
    isRepeat = false,
  ): Promise<string> => {
    const from = Math.min(sizes.get(key.text) ?? 0, size);
    const body = writeAddCheckpoint({ note, from, proof: await proofFrom(from) });
    const answer = await post(`${url}/add-checkpoint`, {
      method: 'POST',
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await answer.text();
    const saw = answer.status === 409 && /^\d{1,15}\n$/.test(text) ? Number(text) : undefined;
    if (saw !== undefined && saw > size)
      throw new RefusalError(`it saw ${saw} records, and the log has ${size}: the log was taken back`);
    if (saw !== undefined && saw !== from && !isRepeat) {
      sizes.set(key.text, saw);
      return ask({ key, url }, { note, size, proofFrom }, true);
    }
    if (saw === size) throw new RefusalError(`it saw another log of ${saw} records`);
    if (!answer.ok) {
      const said = `it responded with ${answer.status}: ${cutText(text, MAX_TOLD).trim()}`;
      throw REFUSALS.has(answer.status) ? new RefusalError(said) : new Error(said);
    }
    const [cosigned] = cosignaturesBy(key, note, text);
    if (!cosigned) throw new Error('its response is no cosignature of the checkpoint');
    sizes.set(key.text, size);
    return cosigned.line;
  };

  return async (asked) => {
    const missing = witnesses.filter(({ key }) => cosignaturesBy(key, asked.note, asked.note).length === 0);
    const lines = await Promise.all(
      missing.map((witness) =>
        ask(witness, asked).catch((error: unknown) => {
          const why = error instanceof Error ? error.message : String(error);
          failed(witness.key, why, error instanceof RefusalError);
          return '';
        }),
      ),
    );
    return asked.note + lines.join('');
  };
}
