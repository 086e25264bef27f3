import assert from 'node:assert/strict';
import { PROBLEMS } from '../../src/domain/http/problem.js';
import { matchSnapshot } from '../support/snapshot.js';
import { startSystem, type TestSystem } from '../support/system.js';

interface Response {
  content?: Record<string, unknown>;
  headers: Record<string, unknown>;
}

interface Operation {
  operationId: string;
  security: unknown[];
  responses: Record<string, Response | { $ref: string }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Response> };
}

describe('the OpenAPI document', () => {
  let system: TestSystem;
  let document: Document;
  before(async () => {
    system = await startSystem({}, 'api');
    document = (await (await fetch(`${system.url}/openapi.json`)).json()) as Document;
  });
  after(() => system.stop());

  const operations = () => Object.values(document.paths).flatMap((methods) => Object.values(methods));

  it('is what is checked in', () => {
    matchSnapshot('docs/openapi.json', document);
  });

  it('names each operation once, with its security, its errors and their headers', () => {
    const ids = operations().map(({ operationId }) => operationId);
    assert.equal(new Set(ids).size, ids.length);
    for (const { operationId, security, responses } of operations()) {
      assert.equal(security.length, 3, operationId);
      const failure = (status: string) => {
        const response = responses[status];
        const name = response && '$ref' in response ? response.$ref.split('/').at(-1) : undefined;
        return document.components.responses[name ?? ''];
      };
      for (const status of ['400', '401', '403', '406', '429', '500', '503']) {
        assert.ok(failure(status)?.content?.['application/problem+json'], `${operationId} ${status}`);
      }
      assert.ok(failure('401')?.headers['WWW-Authenticate'] && failure('429')?.headers['Retry-After']);
    }
  });

  it('has every problem that is not of a path or method that it does not have', () => {
    const text = JSON.stringify(document);
    const elsewhere = [
      'invalid_verification_token',
      'version_unknown',
      'version_withdrawn',
      'method_not_allowed',
    ];
    const absent = Object.keys(PROBLEMS).filter((code) => !text.includes(`\`${code}\``));
    assert.deepEqual(absent.sort(), elsewhere.sort());
  });

  it('is a page for people, too, without scripts', async () => {
    const response = await fetch(`${system.url}/docs`);
    const page = await response.text();
    assert.match(
      response.headers.get('content-security-policy') ?? '',
      /^default-src 'none'; style-src 'sha256-/,
    );
    for (const { operationId } of operations()) assert.ok(page.includes(`id="${operationId}"`), operationId);
    assert.ok(!/<script|src=|href="http/.test(page));
  });
});
