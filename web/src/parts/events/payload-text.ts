/** Text before the payload in the response about an event: it comes last, as it was received. */
const BEFORE = ',"payload":';

/**
 * The payload in an answer of `GET /events/{id}`, byte for byte: parsing would make 135.5 of 135.50. No text in front
 * of it can look like its beginning, because quotes within texts are escaped.
 */
export function payloadIn(answer: string): string {
  const start = answer.indexOf(BEFORE);
  return start < 0 ? '' : answer.slice(start + BEFORE.length, answer.lastIndexOf('}'));
}

/** A JSON text with a line for each value, every token as it stands. A text that has lines already stays as it is. */
export function indentJson(text: string): string {
  if (/\n/.test(text.trim())) return text;
  let depth = 0;
  const line = () => `\n${'  '.repeat(depth)}`;
  return (text.match(TOKENS) ?? [])
    .map((token, index, tokens) => {
      if (token === '{' || token === '[') {
        if (CLOSING.has(tokens[index + 1] ?? '')) return token;
        depth += 1;
        return token + line();
      }
      if (CLOSING.has(token)) {
        if (OPENING.has(tokens[index - 1] ?? '')) return token;
        depth -= 1;
        return line() + token;
      }
      if (token === ',') return token + line();
      return token === ':' ? ': ' : token;
    })
    .join('');
}

const OPENING = new Set(['{', '[']);
const CLOSING = new Set(['}', ']']);
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
