const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const list = (item: string, count: number) => `[${Array(count).fill(item).join()}]`;

/** Schemas and payloads that once killed or blocked the process, and where the schema is to blame. */
export const COSTLY: { name: string; schema: Record<string, unknown>; payload: string; pointer?: string }[] =
  [
    {
      name: '1,000 patterns of names',
      schema: { patternProperties: Object.fromEntries(times(1_000, (i) => [`|p${i}`, { type: 'string' }])) },
      payload: `{${times(20_000, (i) => `"m${i}":1`).join()}}`,
      pointer: '/schema/patternProperties',
    },
    {
      name: '1,000 schemas for each item',
      schema: { items: { allOf: times(1_000, () => ({ type: 'string' })) } },
      payload: list('1', 130_000),
      pointer: '/schema/items/allOf',
    },
    {
      name: '500 times unique items',
      schema: { allOf: times(500, () => ({ uniqueItems: true, maxItems: 1_000 })) },
      payload: `[${times(1_000, (i) => `{"a":${i}}`).join()}]`,
      pointer: '/schema/allOf',
    },
    {
      name: '1,500 alternatives for each item',
      schema: { items: { anyOf: times(1_500, (i) => ({ const: i })) } },
      payload: list('1499', 50_000),
      pointer: '/schema/items/anyOf',
    },
    {
      name: '5,000 values for each item',
      schema: { items: { enum: times(5_000, (i) => i) } },
      payload: list('4999', 50_000),
    },
    {
      name: 'nested repetitions over a long text',
      schema: { pattern: '(a{1,100}){1,10}[yz]$' },
      payload: `"${'a'.repeat(260_000)}"`,
      pointer: '/schema/pattern',
    },
  ];
