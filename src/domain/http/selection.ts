import { cutText } from '../text/unicode.js';
import { Problem } from './problem.js';

/** Bounds of a selection: what it costs is bounded before anything is read. */
export const SELECTION_BOUNDS = { characters: 2_000, depth: 4, fields: 100 } as const;

/** Fields that a response can have. */
export interface Shape {
  /** Absent: names of any kind, if it `isMap`; otherwise none. */
  fields?: ReadonlyMap<string, Shape>;
  isMap?: true;
}

/** Chosen fields of an object, or of each object of a list, in the order in which they were named. */
export type Selection = ReadonlyMap<string, Choice>;

interface Choice {
  /** Selection within the field; absent: all of it. */
  nested?: Selection;
  /** Number of items of a list, from the first. */
  limit?: number;
}

const NAME = /[\w-]+/y;
const LIMIT = /\.limit\((\d{1,4})\)/y;

/**
 * Reads a selection, such as `id,deliveries.limit(3){status}`.
 *
 * @throws Problem `invalid_fields` that says where it is wrong, and which fields there are
 */
export function parseSelection(text: string, shape: Shape): Selection {
  if (text.length > SELECTION_BOUNDS.characters)
    throw refuse(`it is longer than ${SELECTION_BOUNDS.characters} characters`);
  return new SelectionParser(text).parse(shape);
}

class SelectionParser {
  private readonly text: string;
  private at = 0;
  private fields = 0;

  constructor(text: string) {
    this.text = text;
  }

  parse(shape: Shape): Selection {
    const selection = this.list(shape, 1);
    if (this.at < this.text.length) throw refuse(`${this.here()} was not expected`);
    return selection;
  }

  private list(shape: Shape, depth: number): Selection {
    if (depth > SELECTION_BOUNDS.depth)
      throw refuse(`it is nested deeper than ${SELECTION_BOUNDS.depth} levels`);
    const selection = new Map<string, Choice>();
    do {
      const [name] = this.take(NAME) ?? [];
      if (name === undefined) throw refuse(`a field is missing before ${this.here()}`, shape);
      const own = shape.isMap ? {} : shape.fields?.get(name);
      if (!own) throw refuse(`${JSON.stringify(cutText(name, 64, '…'))} is not a field`, shape);
      if (selection.has(name)) throw refuse(`${name} is repeated`);
      this.fields += 1;
      if (this.fields > SELECTION_BOUNDS.fields)
        throw refuse(`it names more than ${SELECTION_BOUNDS.fields} fields`);
      selection.set(name, this.choice(name, own, depth));
    } while (this.skip(','));
    return selection;
  }

  private choice(name: string, shape: Shape, depth: number): Choice {
    const [, limit] = this.take(LIMIT) ?? [];
    const cut = limit !== undefined && { limit: Number(limit) };
    if (!this.skip('{')) return { ...cut };
    if (!shape.fields && !shape.isMap) throw refuse(`${name} has no fields that could be named`);
    const nested = this.list(shape, depth + 1);
    if (!this.skip('}')) throw refuse(`a } is missing before ${this.here()}`);
    return { ...cut, nested };
  }

  private take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text) ?? undefined;
    this.at += match?.[0].length ?? 0;
    return match;
  }

  private skip(character: string): boolean {
    const isThere = this.text[this.at] === character;
    if (isThere) this.at += 1;
    return isThere;
  }

  private here(): string {
    return this.at < this.text.length
      ? JSON.stringify(cutText(this.text.slice(this.at), 16, '…'))
      : 'its end';
  }
}

function refuse(mistake: string, { fields, isMap }: Shape = {}): Problem {
  const known = fields && !isMap ? ` Known fields: ${[...fields.keys()].join(', ')}.` : '';
  const detail = `${mistake}. Name each field once, such as id,deliveries.limit(3){status}.${known}`;
  return new Problem('invalid_fields', `The parameter fields is not valid: ${detail}`, {
    errors: [{ parameter: 'fields', detail }],
  });
}

/** The chosen fields of an object, or of each object of a list. A field that is absent stays absent. */
export function select(value: unknown, selection: Selection): unknown {
  if (Array.isArray(value)) return value.map((one) => select(one, selection));
  if (typeof value !== 'object' || value === null) return value;
  const own = value as Record<string, unknown>;
  return Object.fromEntries(
    [...selection].flatMap(([name, { nested, limit }]) => {
      if (!Object.hasOwn(own, name) || own[name] === undefined) return [];
      const cut = limit !== undefined && Array.isArray(own[name]) ? own[name].slice(0, limit) : own[name];
      return [[name, nested ? select(cut, nested) : cut]];
    }),
  );
}
