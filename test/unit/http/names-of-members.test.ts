import { deepEqual, throws } from 'node:assert/strict';
import { z } from 'zod';
import { checkBytes } from '../../../src/api/http/body.js';
import { Problem } from '../../../src/domain/http/problem.js';

const metadata = z.object({ metadata: z.record(z.string(), z.string()) });
const schema = z.object({ schema: z.record(z.string(), z.unknown()) });

/** Where a body is refused. */
function refused(shape: z.ZodType, json: string): (string | undefined)[] {
  let pointers: (string | undefined)[] = [];
  throws(
    () => checkBytes(shape, Buffer.from(json)),
    (error) => {
      if (!(error instanceof Problem)) return false;
      pointers = (error.errors ?? []).map(({ pointer }) => pointer);
      return error.code === 'invalid_request';
    },
  );
  return pointers;
}

describe('a member named __proto__', () => {
  it('is refused wherever it stands, and however it is spelt, because it would be left out', () => {
    deepEqual(refused(metadata, '{"metadata":{"a":"b","__proto__":"x"}}'), ['/metadata/__proto__']);
    deepEqual(refused(metadata, '{"metadata":{"\\u005f_proto__":"x"}}'), ['/metadata/__proto__']);
    const property = '{"properties":{"__proto__":{"type":"string"}}}';
    deepEqual(refused(schema, `{"schema":${property}}`), ['/schema/properties/__proto__']);
    deepEqual(refused(schema, `{"schema":{"$ref":"#/$defs/a/b","$defs":{"a/b":${property}}}}`), [
      '/schema/$defs/a~1b/properties/__proto__',
    ]);
    deepEqual(refused(schema, '{"schema":{"allOf":[{},{"dependentRequired":{"__proto__":["a"]}}]}}'), [
      '/schema/allOf/1/dependentRequired/__proto__',
    ]);
  });

  it('is none where the name is a value, or part of another name', () => {
    const body = { metadata: { __proto__x: '__proto__', proto: '\u005f' } };
    deepEqual(checkBytes(metadata, Buffer.from(JSON.stringify(body))), body);
    const required = { schema: { required: ['__proto__'] } };
    deepEqual(checkBytes(schema, Buffer.from(JSON.stringify(required))), required);
  });
});
