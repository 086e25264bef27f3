import { styleText } from 'node:util';
import { plain } from '../../domain/text/plain.js';
import { toJson } from '../../domain/text/unicode.js';

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

/** Whether a person reads it: a terminal, and no NO_COLOR (no-color.org). */
const isColourful = (): boolean =>
  process.stdout.isTTY === true && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';

export function style(name: Style, text: string): string {
  return isColourful() ? styleText(name, text) : text;
}

export { plain };

/** The codes of {@link style}, and any other character of control but the end of a line. */
const CODES = /\p{Cc}\[(?:[12]|22|3[1239])m|(?!\n)\p{Cc}/gu;

/** Should {@link plain} have been forgotten: no code but our own comes through, and none where nobody sees colours. */
function withoutCodes(text: string): string {
  const keepsStyles = isColourful();
  return text.replace(CODES, (code) => (keepsStyles && code.length > 1 ? code : ' '));
}

export function print(line = ''): void {
  process.stdout.write(`${withoutCodes(line)}\n`);
}

/** Characters that JSON leaves as they are, and a terminal acts upon. */
const LEFT_BY_JSON = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** JSON, a line each, for programs. */
export function printJson(value: object): void {
  const json = toJson(value).replace(
    LEFT_BY_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  process.stdout.write(`${json}\n`);
}

/** To standard error, so that it is not part of the output. */
export function note(line: string): void {
  process.stderr.write(`${withoutCodes(line)}\n`);
}

/** Columns as wide as they need to be; the last one is not filled up. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows].map((row) => row.map(plain));
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const lines = all.map((row, index) => {
    const cells = row.map((cell, column) => {
      const padded = column === header.length - 1 ? cell : cell.padEnd(widths[column] ?? 0);
      return index === 0 ? style('dim', padded) : colouredStatus(padded);
    });
    return cells.join('  ').trimEnd();
  });
  return lines.join('\n');
}

const STATUSES = [
  ['green', ['delivered', 'active', 'completed']],
  ['red', ['exhausted', 'expired', 'disabled', 'failed']],
  ['yellow', ['retrying', 'parked', 'paused', 'pending']],
  ['dim', ['cancelled']],
] as const satisfies [Style, string[]][];

function colouredStatus(cell: string): string {
  const [found] = STATUSES.find(([, statuses]) => statuses.some((one) => one === cell.trimEnd())) ?? [];
  return found ? style(found, cell) : cell;
}

export function status(text: string): string {
  return colouredStatus(plain(text));
}

/** `1 delivery`, `2 deliveries`. */
export const deliveryCount = (count: number) => (count === 1 ? '1 delivery' : `${count} deliveries`);

/** A time as the reader's clock shows it: the time of day if it is today, the date before it otherwise. */
export function time(iso: string, now = new Date()): string {
  const at = new Date(iso);
  const pad = (number: number) => String(number).padStart(2, '0');
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map(pad).join(':');
  const date = [at.getFullYear(), pad(at.getMonth() + 1), pad(at.getDate())].join('-');
  return at.toDateString() === now.toDateString() ? clock : `${date} ${clock}`;
}
