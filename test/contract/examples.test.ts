import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { isEmailAddress } from '../../packages/payload-contract/src/index.js';

interface Media {
  schema: object;
  example?: unknown;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: object; responses: Record<string, { content: Record<string, Media> }> };
}

interface Operation {
  operationId: string;
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content?: Record<string, Media> }>;
}

/** Reads what is checked in: another test says that it is what a server answers. */
describe('examples of the OpenAPI document', () => {
  const { paths, components } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as Document;
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addFormat('idn-email', isEmailAddress);

  const validatorOf = (schema: object): ValidateFunction => ajv.compile({ ...schema, components });
  const bodies = (content: Record<string, Media> = {}) =>
    Object.entries(content).filter(([type]) => type.endsWith('json'));
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));

  /** Every JSON body that the document describes, by where it stands. */
  const described: [string, Media][] = [
    ...operations.flatMap(({ operationId, requestBody, responses }) => [
      ...bodies(requestBody?.content).map(([type, media]): [string, Media] => [
        `${operationId} ${type}`,
        media,
      ]),
      ...Object.entries(responses).flatMap(([status, { content }]) =>
        bodies(content).map(([, media]): [string, Media] => [`${operationId} ${status}`, media]),
      ),
    ]),
    ...Object.entries(components.responses).flatMap(([name, { content }]) =>
      bodies(content).map(([, media]): [string, Media] => [name, media]),
    ),
  ];

  it('show every request and every answer, and are valid against their schemas', () => {
    assert.ok(described.length > 100, String(described.length));
    for (const [where, { schema, example }] of described) {
      assert.notEqual(example, undefined, `${where} has no example`);
      const isValid = validatorOf(schema);
      assert.ok(
        isValid(example),
        `${where}: ${ajv.errorsText(isValid.errors)} in ${JSON.stringify(example)}`,
      );
    }
  });

  it('have a value for each text (a new field gets one in src/api/docs/examples/example-values.ts)', () => {
    const unknown = described.flatMap(([where, { example }]) =>
      unknownIn(example).map((at) => `${where} ${at}`),
    );
    assert.deepEqual(unknown, []);
  });
});

/** JSON Pointers of the texts of which no value is known. */
function unknownIn(value: unknown, at = ''): string[] {
  if (value === '…') return [at];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => unknownIn(inner, `${at}/${name}`));
}
