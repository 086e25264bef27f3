import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../../../src/api/http/context.js';
import { pathTo } from '../../../src/api/http/operation.js';

const ROUTES = 'src/api/routes';

describe('the path of a resource', () => {
  const context = { path: '/v18.0/events/purch%61se/', params: { version: 'v18.0', id: 'a/b ' } };

  it('is built from its route and the version that was asked for, whatever path came', () => {
    const of = (route: string, params?: Record<string, string>) =>
      pathTo(context as unknown as Context, route, params);
    assert.equal(of('/events/:id', { id: 'evt_1' }), '/v18.0/events/evt_1');
    assert.equal(of('/event_kinds/:name', { name: 'order.shipped' }), '/v18.0/event_kinds/order.shipped');
    assert.equal(of('/listeners/:id/stream'), '/v18.0/listeners/a%2Fb%20/stream');
  });

  it('is built so in every answer that names one', () => {
    const files = readdirSync(ROUTES, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const lines = files.flatMap((name) =>
      readFileSync(join(ROUTES, name), 'utf8')
        .split('\n')
        .map((line) => `${name}: ${line.trim()}`),
    );
    const declared = lines.filter((line) => /\blocation: /.test(line));
    assert.ok(declared.length > 10, String(declared.length));
    assert.deepEqual(
      declared.filter((line) => !/location: '\/[\w/:]+',$/.test(line)),
      [],
    );
    assert.deepEqual(
      lines.filter((line) => /['"]location['"]/.test(line) && !line.includes('pathTo(')),
      [],
    );
    assert.deepEqual(
      lines.filter((line) => /ctx\.(path|url|originalUrl|href)\b/.test(line)),
      [],
    );
  });
});
