import { patternSize } from './pattern.js';
import { escapePointer, isSchema, referencedDefinition, type Schema } from './schema-keywords.js';

/**
 * The most work that checking a payload can be, in steps of about 5 ns on the machine it was measured on: so many in any case, and so many
 * for each byte of the payload.
 */
export interface Cost {
  fixed: number;
  perByte: number;
}

/** The cost of a schema or of one of its keywords, with what it consists of. */
export interface CostNode extends Cost {
  /** JSON Pointer into the schema. */
  pointer: string;
  parts: CostNode[];
}

/** One keyword for one value: code for large schemas is not optimized by V8. */
const KEYWORD = 10;
/** Looking for a member of an object. */
const MEMBER = 4;
/** An alternative that does not match: an error is made, and thrown away. */
const ALTERNATIVE = 50;
/** A pattern's instruction, for each character that it is run over. */
const INSTRUCTION = 8;
/** For each byte: measuring a text, looking for a format, comparing with a value, writing a value in its canonical form. */
const LENGTH = 1;
const FORMAT = 5;
const EQUAL = 3;
const CANONICAL = 30;
/** No item and no member of JSON text is shorter than this, in bytes: `1,` and `"":1,`. */
const ITEM_BYTES = 2;
const MEMBER_BYTES = 5;
/** UTF-16 code units of a character: lengths are counted in characters. */
const UNITS = 2;
/** A bound or a value that is compared digit by digit; a multiple in decimal; reading a JSON text with all digits of its numbers, per byte. */
const COMPARISON = 25;
const MULTIPLE = 250;
const EXACT = 40;
/** Keywords that cost nothing by themselves. */
const FREE = new Set([
  '$schema',
  '$defs',
  '$comment',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
]);

/**
 * The cost of a schema, whose bounds have been checked. Everything that a payload's size multiplies is counted per byte: what applies to
 * each item of a list or each member of an object, and patterns. Members of an object share its bytes, so of `properties` only the
 * most expensive counts there, while each branch of `allOf` looks at all of them.
 */
export function costOf(schema: Schema): CostNode {
  return new CostWalk(schema).visit(schema, '', false);
}

/** The cost of reading a payload so that all digits of its numbers are kept, which one with long numbers needs. */
export const EXACT_READING: Cost = { fixed: 0, perByte: EXACT };

/** Steps to check a payload of that many bytes. */
export function stepsFor({ fixed, perByte }: Cost, bytes: number): number {
  return fixed + perByte * bytes;
}

/** The construct that most of a cost comes from: the deepest one that makes up more than half of it. */
export function heaviestPart(node: CostNode, bytes: number): CostNode {
  const most = stepsFor(node, bytes) / 2;
  const part = node.parts.find((candidate) => stepsFor(candidate, bytes) > most);
  return part ? heaviestPart(part, bytes) : node;
}

class CostWalk {
  private readonly definitions: Schema;

  constructor(schema: Schema) {
    this.definitions = isSchema(schema['$defs']) ? schema['$defs'] : {};
  }

  /** @param isMany whether the schema applies to each of many values: what is fixed for one then counts by the byte */
  visit(schema: unknown, pointer: string, isMany: boolean, valueBytes = ITEM_BYTES): CostNode {
    if (!isSchema(schema)) return { pointer, fixed: 0, perByte: 0, parts: [] };
    const parts = Object.keys(schema)
      .filter((name) => !FREE.has(name))
      .map((name) => this.keyword(schema, name, `${pointer}/${escapePointer(name)}`, isMany, valueBytes));
    return { pointer, ...sum(parts), parts };
  }

  private keyword(
    schema: Schema,
    name: string,
    pointer: string,
    isMany: boolean,
    valueBytes: number,
  ): CostNode {
    const value = schema[name];
    const leaf = (once: number, perByte = 0): CostNode => ({
      pointer,
      ...(isMany ? { fixed: 0, perByte: once / valueBytes + perByte } : { fixed: once, perByte }),
      parts: [],
    });
    const node = (parts: CostNode[], own: Cost, total: Cost = sum(parts)): CostNode => ({
      pointer,
      fixed: own.fixed + total.fixed,
      perByte: own.perByte + total.perByte,
      parts,
    });
    const same = (inner: unknown, at = pointer) => this.visit(inner, at, isMany, valueBytes);
    const list = Array.isArray(value) ? value : [];
    const map = isSchema(value) ? Object.entries(value) : [];
    switch (name) {
      case '$ref': {
        const definition = referencedDefinition(value) ?? '';
        return node([same(this.definitions[definition], `/$defs/${definition}`)], leaf(KEYWORD));
      }
      case 'not':
      case 'if':
      case 'then':
      case 'else':
        return node([same(value)], leaf(KEYWORD));
      case 'allOf':
        return node(
          list.map((inner, index) => same(inner, `${pointer}/${index}`)),
          leaf(KEYWORD),
        );
      case 'anyOf':
      case 'oneOf':
        return node(
          list.map((inner, index) => same(inner, `${pointer}/${index}`)),
          leaf(ALTERNATIVE * list.length),
        );
      case 'dependentSchemas':
        return node(
          map.map(([key, inner]) => same(inner, `${pointer}/${escapePointer(key)}`)),
          leaf(KEYWORD * map.length),
        );
      case 'properties': {
        const parts = map.map(([key, inner]) =>
          this.visit(inner, `${pointer}/${escapePointer(key)}`, isMany, MEMBER_BYTES),
        );
        return node(parts, leaf(MEMBER * map.length), sharing(parts));
      }
      case 'prefixItems': {
        const parts = list.map((inner, index) => same(inner, `${pointer}/${index}`));
        return node(parts, leaf(KEYWORD), sharing(parts));
      }
      case 'items':
        return node([this.visit(value, pointer, true)], leaf(KEYWORD));
      case 'contains':
        return node([this.visit(value, pointer, true)], { fixed: 0, perByte: ALTERNATIVE / ITEM_BYTES });
      case 'propertyNames':
      case 'additionalProperties':
        return node([this.visit(value, pointer, true, MEMBER_BYTES)], {
          fixed: 0,
          perByte: KEYWORD + this.namePatterns(schema),
        });
      case 'patternProperties': {
        const parts = map.map(([pattern, inner]) => {
          const at = `${pointer}/${escapePointer(pattern)}`;
          const inside = this.visit(inner, at, true, MEMBER_BYTES);
          return { ...inside, perByte: inside.perByte + INSTRUCTION * patternSize(pattern) };
        });
        return node(parts, leaf(KEYWORD));
      }
      case 'pattern': {
        const step = INSTRUCTION * patternSize(String(value));
        const longest = schema['maxLength'];
        const isShort = !isMany && typeof longest === 'number' && longest >= 0;
        return isShort ? leaf(step * (UNITS * longest + 1)) : leaf(KEYWORD, step);
      }
      case 'required':
        return leaf(MEMBER * list.length);
      case 'dependentRequired':
        return leaf(
          map.reduce(
            (total, [, names]) => total + MEMBER * (1 + (Array.isArray(names) ? names.length : 0)),
            0,
          ),
        );
      case 'enum':
        return leaf(KEYWORD, list.some((one) => typeof one === 'object') ? CANONICAL : 0);
      case 'const':
        return leaf(COMPARISON, typeof value === 'object' ? EQUAL : 0);
      case 'minimum':
      case 'exclusiveMinimum':
      case 'maximum':
      case 'exclusiveMaximum':
        return leaf(COMPARISON);
      case 'multipleOf':
        return leaf(MULTIPLE, LENGTH);
      case 'uniqueItems':
        return leaf(KEYWORD, value === true ? CANONICAL : 0);
      case 'minLength':
      case 'maxLength':
        return leaf(KEYWORD, LENGTH);
      case 'format':
        return leaf(KEYWORD, FORMAT);
      default:
        return leaf(KEYWORD);
    }
  }

  /** What the patterns beside `additionalProperties` cost: each name is held against all of them. */
  private namePatterns({ patternProperties }: Schema): number {
    if (!isSchema(patternProperties)) return 0;
    return Object.keys(patternProperties).reduce(
      (total, pattern) => total + INSTRUCTION * patternSize(pattern),
      0,
    );
  }
}

function sum(parts: readonly Cost[]): Cost {
  return {
    fixed: parts.reduce((total, { fixed }) => total + fixed, 0),
    perByte: parts.reduce((total, { perByte }) => total + perByte, 0),
  };
}

/** Of parts that look at different bytes. */
function sharing(parts: readonly Cost[]): Cost {
  return { ...sum(parts), perByte: Math.max(0, ...parts.map(({ perByte }) => perByte)) };
}
