/** Prints the memory that compiled schemas take, and that expected of them: run with `--expose-gc`, by a test. */
import { compilePayloadSchema } from '../src/schema/payload-schema.js';
import { checkBounds, compiledBytes } from '../src/schema/schema-bounds.js';

const many = (count: number, schema: (index: number) => object) => ({
  properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, schema(index)])),
});

/** Compiles a schema, and runs all functions that it has. @returns what keeps them */
function use(schema: ReturnType<typeof many>) {
  const names = Object.keys(schema.properties);
  const text = JSON.stringify(Object.fromEntries(names.map((name) => [name, '?'])));
  const validate = compilePayloadSchema(schema);
  for (const payload of [text, text.replace('"?"', '0.12345678901234567890123')])
    validate(JSON.parse(payload), payload);
  return validate;
}

/** @returns bytes of the heap that each of some compiled schemas takes */
function measure(schema: ReturnType<typeof many>): number {
  const kept = [use(schema)];
  const heap = () => {
    globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  };
  const before = heap();
  for (let count = 0; count < 5; count += 1) kept.push(use(schema));
  return Math.round((heap() - before) / (kept.length - 1));
}

const schemas = {
  'classes of many characters': many(4, () => ({ type: 'string', pattern: '^\\p{L}{1,60}$' })),
  formats: many(40, () => ({ format: 'uuid' })),
  'bounds of numbers': many(30, (maximum) => ({ multipleOf: 0.01, maximum })),
};
const measured = Object.entries(schemas).map(([what, schema]) => [
  what,
  { taken: measure(schema), expected: compiledBytes(schema, checkBounds(schema).size) },
]);
process.stdout.write(JSON.stringify(Object.fromEntries(measured)));
