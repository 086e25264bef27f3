import { type ExactNumber, readNumber } from './exact-number.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const [OPEN_LIST, CLOSE_LIST] = [0x5b, 0x5d];
const [OPEN_OBJECT, CLOSE_OBJECT] = [0x7b, 0x7d];
const SPACE = 0x20;

/** Where the values in an object or a list begin, by name or index. */
type Offsets = ReadonlyMap<string, number> | readonly number[];

/**
 * The numbers of a JSON text, each read with every digit when it is asked for. Members of the objects and lists on the
 * way to a number are found in one pass, however many numbers are asked for; everything else in the text is passed
 * over. It goes as deep as the paths do, whatever the text holds.
 */
export class NumberTexts {
  private readonly json: string;
  private readonly within = new Map<number, Offsets>();
  private readonly numbers = new Map<number, number | ExactNumber>();

  /** @param json a valid JSON text */
  constructor(json: string) {
    this.json = json;
  }

  /** The number at a path at which the text has one. */
  at(names: readonly string[]): number | ExactNumber | undefined {
    let offset: number | undefined = this.skipSpace(0);
    for (const name of names) {
      const offsets = this.offsetsIn(offset);
      offset = isList(offsets) ? offsets[Number(name)] : offsets.get(name);
      if (offset === undefined) return undefined;
    }
    let number = this.numbers.get(offset);
    if (number === undefined) {
      number = readNumber(this.json.slice(offset, this.endOfValue(offset)));
      this.numbers.set(offset, number);
    }
    return number;
  }

  private offsetsIn(container: number): Offsets {
    let offsets = this.within.get(container);
    if (!offsets) {
      offsets =
        this.json.charCodeAt(container) === OPEN_LIST ? this.items(container) : this.members(container);
      this.within.set(container, offsets);
    }
    return offsets;
  }

  private items(list: number): number[] {
    const offsets: number[] = [];
    let at = this.skipSpace(list + 1);
    while (at < this.json.length && this.json.charCodeAt(at) !== CLOSE_LIST) {
      offsets.push(at);
      at = this.skipComma(this.endOfValue(at));
    }
    return offsets;
  }

  /** Members by name. Of several with one name the last counts, as for `JSON.parse`. */
  private members(object: number): Map<string, number> {
    const offsets = new Map<string, number>();
    let at = this.skipSpace(object + 1);
    while (at < this.json.length && this.json.charCodeAt(at) !== CLOSE_OBJECT) {
      const end = this.endOfText(at);
      const written = this.json.slice(at + 1, end - 1);
      const name = written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written;
      const colon = this.skipSpace(end);
      const value = this.skipSpace(colon + 1);
      offsets.set(name, value);
      at = this.skipComma(this.endOfValue(value));
    }
    return offsets;
  }

  private skipComma(from: number): number {
    const at = this.skipSpace(from);
    return this.json.charCodeAt(at) === COMMA ? this.skipSpace(at + 1) : at;
  }

  private skipSpace(from: number): number {
    let at = from;
    while (this.json.charCodeAt(at) <= SPACE) at += 1;
    return at;
  }

  private endOfValue(from: number): number {
    let depth = 0;
    for (let at = from; at < this.json.length; at += 1) {
      const code = this.json.charCodeAt(at);
      if (code === QUOTE) at = this.endOfText(at) - 1;
      else if (code === OPEN_OBJECT || code === OPEN_LIST) depth += 1;
      else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
        // The end of what the value is in, or of itself.
        if (depth === 0) return at;
        depth -= 1;
        if (depth === 0) return at + 1;
      } else if (depth === 0 && (code === COMMA || code <= SPACE)) return at;
    }
    return this.json.length;
  }

  /** @param from the quotation mark that it begins with @returns what is behind the one that it ends with */
  private endOfText(from: number): number {
    let at = from + 1;
    for (let code = this.json.charCodeAt(at); at < this.json.length && code !== QUOTE; ) {
      at += code === BACKSLASH ? 2 : 1;
      code = this.json.charCodeAt(at);
    }
    return at + 1;
  }
}

function isList(offsets: Offsets): offsets is readonly number[] {
  return Array.isArray(offsets);
}
