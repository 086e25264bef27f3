import { Problem } from '../../../domain/http/problem.js';

/**
 * Lists and objects within each other in a request's body. A schema of the greatest depth, with what stands around it,
 * has half as many.
 */
export const MAX_NESTING = 128;

const [QUOTE, BACKSLASH, LIST, END_OF_LIST, OBJECT, END_OF_OBJECT] = [...'"\\[]{}'].map((one) =>
  one.charCodeAt(0),
);

/**
 * Refuses a JSON text that is nested deeply, before it is parsed: whatever walks it afterwards may call itself for each
 * level.
 *
 * @throws Problem 400
 */
export function requireShallow(json: Uint8Array): void {
  let depth = 0;
  let isText = false;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index];
    if (isText) {
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (byte === LIST || byte === OBJECT) {
      depth += 1;
      if (depth > MAX_NESTING) throw tooDeep();
    } else if (byte === END_OF_LIST || byte === END_OF_OBJECT) depth -= 1;
  }
}

function tooDeep(): Problem {
  const detail = `must be nested at most ${MAX_NESTING} deep`;
  return new Problem('invalid_request', `The request is not valid: the body ${detail}.`, {
    errors: [{ pointer: '', detail }],
  });
}
