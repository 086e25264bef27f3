import { PROBLEMS, type ProblemCode } from '../../../domain/http/problems.js';
import type { Json, JsonObject } from '../json.js';
import { ExampleMaker } from './example-of.js';

interface Document {
  paths: Record<string, Record<string, JsonObject>>;
  components: { schemas: Record<string, JsonObject>; responses: Record<string, JsonObject> };
}

/** Gives every body, every response and every id in a path of the document an example. */
export function addExamples(whole: JsonObject): void {
  const document = whole as unknown as Document;
  const maker = new ExampleMaker(document.components.schemas);
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    const owner = String(operation['operationId']);
    addToContent(operation['requestBody'], (schema) => maker.of(schema, []));
    for (const response of Object.values(operation['responses'] as JsonObject)) {
      addToContent(response, (schema) => maker.of(schema, [owner]));
    }
  }
  for (const [name, response] of Object.entries(document.components.responses)) {
    const [code = ''] = name.split('.');
    addToContent(response, () => problemExample(code as ProblemCode));
  }
}

/** Adds what a function makes of the schema to each JSON body that has none. */
function addToContent(holder: Json | undefined, make: (schema: JsonObject) => Json): void {
  const { content = {} } = (holder ?? {}) as JsonObject;
  for (const [type, media] of Object.entries(content as Record<string, JsonObject>)) {
    if (/json$/.test(type)) media['example'] = make(media['schema'] as JsonObject);
  }
}

function problemExample(code: ProblemCode): JsonObject {
  const [status, title] = PROBLEMS[code];
  return {
    type: `https://hookline.example.com/errors/${code}`,
    title,
    status,
    detail: `${title}.`,
    code,
    request_id: 'req_01M7Y2V07RS2Y47QBBGSV7HTCR',
  };
}
