import { visit } from 'jsonc-parser';
import type { z } from 'zod';

/** A certificate, or what is given with it, is not valid. The message says why, and names no payload. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

/** Beyond which a text is not read, characters: a payload of 256 KiB may need six for each byte. */
const MAX_LENGTH = 2 * 1024 * 1024;

/**
 * Reads JSON of a shape, as it stands: every reader must understand it alike, and nothing in it may go unnoticed.
 *
 * @param what names it in errors @param schema transforms nothing
 * @throws CertificateError
 */
export function readStrictly<T>(what: string, schema: z.ZodType<T>, text: string): T {
  if (text.length > MAX_LENGTH) throw new CertificateError(`${what} is too long`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CertificateError(`${what} is not valid JSON`, { cause: error });
  }
  try {
    refuseAmbiguity(what, text);
  } catch (error) {
    if (error instanceof RangeError)
      throw new CertificateError(`${what} is nested too deeply`, { cause: error });
    throw error;
  }
  const { error } = schema.safeParse(value);
  if (!error) return value as T;
  const [issue] = error.issues;
  const where = issue?.path.join('.');
  throw new CertificateError(`${what} is not valid: ${where ? `${where}: ` : ''}${issue?.message}`);
}

/** Refuses what readers of JSON understand differently: a name twice in one object, and a number that some round. */
function refuseAmbiguity(what: string, text: string): void {
  const objects: Set<string>[] = [];
  visit(text, {
    onObjectBegin: () => {
      objects.push(new Set());
    },
    onObjectEnd: () => {
      objects.pop();
    },
    onObjectProperty: (name) => {
      const names = objects.at(-1);
      if (name === '__proto__') throw new CertificateError(`${what} has a member named "__proto__"`);
      if (names?.has(name)) throw new CertificateError(`${what} has two members with one name: "${name}"`);
      names?.add(name);
    },
    onLiteralValue: (literal, offset, length) => {
      if (typeof literal === 'number' && String(literal) !== text.slice(offset, offset + length))
        throw new CertificateError(`${what} has a number that is not in its shortest form`);
    },
  });
}
