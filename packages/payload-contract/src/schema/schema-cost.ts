import { escapePointer } from '../json-pointer.js';
import { patternSize } from './pattern.js';
import {
  isAnnotation,
  isSchema,
  referencedDefinition,
  type Schema,
  subschemasUnder,
} from './schema-keywords.js';

/**
 * The most work that checking a payload can be, in steps of about 5 ns on the machine it was measured on: so many in
 * any case, and so many for each byte of the payload.
 */
export interface Cost {
  fixed: number;
  perByte: number;
}

/** The cost of a schema or of one of its keywords, with what it consists of. */
interface CostNode extends Cost {
  /** JSON Pointer into the schema. */
  pointer: string;
  parts: CostNode[];
}

const STEPS = {
  /** One keyword for one value: code for large schemas is not optimized by V8. */
  keyword: 10,
  /** Looking for a member of an object. */
  member: 4,
  /** An alternative that does not match: an error is made, and thrown away. */
  alternative: 50,
  /** A pattern's instruction, for each character that it is run over. */
  instruction: 8,
  /** A bound or a value that is compared digit by digit; a multiple in decimal. */
  comparison: 25,
  multiple: 250,
  /**
   * For each byte: measuring a text, looking for a format, comparing with a value, writing a value in its canonical
   * form.
   */
  length: 1,
  format: 5,
  equal: 3,
  canonical: 30,
};
/** No item and no member of JSON text is shorter than this, in bytes: `1,` and `"":1,`. */
const ITEM_BYTES = 2;
const MEMBER_BYTES = 5;
/** UTF-16 code units of a character: lengths are counted in characters. */
const UNITS = 2;

/** Keywords whose subschemas look at different bytes of a value. */
const SHARING = ['properties', 'prefixItems'];
/** Keywords whose subschemas apply to each of many values. */
const OF_MANY: Partial<Record<string, number>> = {
  items: ITEM_BYTES,
  contains: ITEM_BYTES,
  propertyNames: MEMBER_BYTES,
  additionalProperties: MEMBER_BYTES,
  patternProperties: MEMBER_BYTES,
};

/** Cost of a keyword for one value, without its subschemas: in any case, and for each byte. */
type OwnCost = [once: number, perByte?: number];

const perMember = (value: unknown): OwnCost => [STEPS.member * sizeOf(value)];
const perAlternative = (value: unknown): OwnCost => [STEPS.alternative * sizeOf(value)];
const comparison = (): OwnCost => [STEPS.comparison];
const length = (): OwnCost => [STEPS.keyword, STEPS.length];
/** Each name is held against all of the patterns beside it. */
const perName = (_: unknown, { patternProperties }: Schema): OwnCost => {
  const patterns = Object.keys(isSchema(patternProperties) ? patternProperties : {});
  return [0, patterns.reduce((total, pattern) => total + patternCost(pattern), STEPS.keyword)];
};

/** Costs of keywords that do not cost {@link STEPS.keyword}. */
const OWN: Partial<Record<string, (value: unknown, schema: Schema) => OwnCost>> = {
  anyOf: perAlternative,
  oneOf: perAlternative,
  dependentSchemas: (value) => [STEPS.keyword * sizeOf(value)],
  properties: perMember,
  required: perMember,
  dependentRequired: (value) => {
    const lists = Object.values(isSchema(value) ? value : {});
    return [lists.reduce<number>((total, names) => total + STEPS.member * (1 + sizeOf(names)), 0)];
  },
  contains: () => [0, STEPS.alternative / ITEM_BYTES],
  propertyNames: perName,
  additionalProperties: perName,
  enum: (value) => {
    const isDeep = Array.isArray(value) && value.some((one) => typeof one === 'object');
    return [STEPS.keyword, isDeep ? STEPS.canonical : 0];
  },
  const: (value) => [STEPS.comparison, typeof value === 'object' ? STEPS.equal : 0],
  minimum: comparison,
  exclusiveMinimum: comparison,
  maximum: comparison,
  exclusiveMaximum: comparison,
  multipleOf: () => [STEPS.multiple, STEPS.length],
  pattern: (value) => [STEPS.keyword, patternCost(String(value))],
  uniqueItems: (value) => [STEPS.keyword, value === true ? STEPS.canonical : 0],
  minLength: length,
  maxLength: length,
  format: () => [STEPS.keyword, STEPS.format],
};

/** The cost of reading a payload so that all digits of its numbers are kept, which one with long numbers needs. */
export const EXACT_READING: Cost = { fixed: 0, perByte: 40 };

/**
 * The cost of a schema, whose bounds have been checked. Everything that a payload's size multiplies is counted per
 * byte: what applies to each item of a list or each member of an object, and patterns. Members of an object share its
 * bytes, so of `properties` only the most expensive counts there, while each branch of `allOf` looks at all of them.
 */
export function costOf(schema: Schema): CostNode {
  const definitions = isSchema(schema['$defs']) ? schema['$defs'] : {};

  /** @param isMany whether the schema applies to each of many values: what is fixed for one then counts by the byte */
  function visit(inner: unknown, pointer: string, isMany: boolean, valueBytes: number): CostNode {
    const names = isSchema(inner)
      ? Object.keys(inner).filter((name) => name !== '$defs' && !isAnnotation(name))
      : [];
    const parts = names.map((name) => keyword(inner as Schema, name, pointer, isMany, valueBytes));
    return { pointer, ...sum(parts), parts };
  }

  function keyword(
    within: Schema,
    name: string,
    outer: string,
    isMany: boolean,
    valueBytes: number,
  ): CostNode {
    const [once, perByte = 0] = ownCost(within, name, isMany);
    const own = isMany ? { fixed: 0, perByte: once / valueBytes + perByte } : { fixed: once, perByte };
    const bytes = OF_MANY[name] ?? (name === 'properties' ? MEMBER_BYTES : valueBytes);
    const parts = subschemasUnder(within, name).map(([pointer, inner, key]) => {
      const inside = visit(inner, outer + pointer, isMany || name in OF_MANY, bytes);
      const matching = name === 'patternProperties' ? patternCost(key) : 0;
      return { ...inside, perByte: inside.perByte + matching };
    });
    if (name === '$ref') {
      const definition = referencedDefinition(within[name]) ?? '';
      parts.push(visit(definitions[definition], `/$defs/${definition}`, isMany, valueBytes));
    }
    const shared = SHARING.includes(name) && { perByte: Math.max(0, ...parts.map((part) => part.perByte)) };
    const total = sum([own, { ...sum(parts), ...shared }]);
    return { pointer: `${outer}/${escapePointer(name)}`, ...total, parts };
  }

  return visit(schema, '', false, ITEM_BYTES);
}

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

function ownCost(schema: Schema, name: string, isMany: boolean): OwnCost {
  const { [name]: value, maxLength } = schema;
  // The length of one text among many is unknown.
  if (name === 'pattern' && !isMany && typeof maxLength === 'number' && maxLength >= 0)
    return [patternCost(String(value)) * (UNITS * maxLength + 1)];
  return OWN[name]?.(value, schema) ?? [STEPS.keyword];
}

function patternCost(pattern: string): number {
  return STEPS.instruction * patternSize(pattern);
}

/** How many entries a list or an object has. */
function sizeOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

function sum(parts: readonly Cost[]): Cost {
  return {
    fixed: parts.reduce((total, { fixed }) => total + fixed, 0),
    perByte: parts.reduce((total, { perByte }) => total + perByte, 0),
  };
}
