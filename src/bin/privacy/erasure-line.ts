import { z } from 'zod';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { idPattern } from '../../domain/basics/ids.js';
import { isObject } from '../../domain/basics/objects.js';
import { erasureSchema } from '../../domain/privacy/erasure.js';
import { canonicalJson } from '../../domain/records/canonical-json.js';

/** The longest line of an export of erasures, characters. One takes some 600. */
export const MAX_ERASURE_LINE = 4_096;

/** Purpose of the tag of such a line. */
const PURPOSE = 'erasure-line';

/** Form of a tag: the id of the key that made it, and an HMAC. */
const TAG = /^[\w.-]{1,48}:[0-9a-f]{64}$/;

const time = z.iso.datetime().max(40);
const count = z.int().min(0);
const account_id = z.string().regex(idPattern('account'));

const lineSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('erasure'), account_id, erasure: erasureSchema }),
  z.strictObject({ type: z.literal('account'), account_id, erasure_requested_at: time }),
  // `lines`: before this one.
  z.strictObject({ type: z.literal('end'), lines: count, exported_at: time }),
]);

/**
 * A line of an export of erasures: a subject that was erased, named by the id of its key, an account all of whose
 * payloads were, or the end. Nothing in it says anything about a person.
 */
export type ErasureLine = z.output<typeof lineSchema>;

/** A line of a file is not one that this installation wrote. */
export class ErasureLineError extends Error {
  override readonly name = 'ErasureLineError';
}

/**
 * A line as it is written, without its end: canonical JSON (RFC 8785) of an object with a tag that shows who wrote it.
 */
export function writeErasureLine(line: ErasureLine, box: SecretBox): string {
  return canonicalJson({ ...line, tag: box.tag(canonicalJson(line), PURPOSE) });
}

/**
 * Reads what {@link writeErasureLine} wrote.
 *
 * @throws ErasureLineError if it was altered, or somebody else wrote it @throws SealError if its key is not known
 */
export function readErasureLine(text: string, box: SecretBox): ErasureLine {
  const { tag, ...line } = parsed(text);
  if (typeof tag !== 'string' || !TAG.test(tag) || !box.isTagged(tag, canonicalJson(line), PURPOSE))
    throw new ErasureLineError('it was altered, or written by another installation');
  const { data } = lineSchema.safeParse(line);
  if (!data) throw new ErasureLineError('another version of Hookline wrote it');
  return data;
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Not JSON: the same answer.
  }
  throw new ErasureLineError('it is no JSON object');
}
