import { deepEqual, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { SCOPES } from '../../../src/domain/access/api-key.js';
import { EVENT_KINDS } from '../../../src/domain/event/event-kinds.js';

const REFERENCE = readFileSync('docs/reference.md', 'utf8');

/** The text of one section. */
function section(title: string): string {
  const [, text] = REFERENCE.split(`## ${title}\n`);
  return text?.split('\n## ')[0] ?? '';
}

/** The names in the first column of its table. */
function firstColumn(title: string): string[] {
  const rows = section(title).matchAll(/^\| (`.+?) \|/gm);
  return [...rows].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

describe('The reference', () => {
  it('lists every scope', () => {
    deepEqual(firstColumn('Scopes').sort(), [...SCOPES].sort());
  });

  it('lists the headers that OpenAPI describes, and those that every request has', () => {
    const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
    const described = document.webhooks.purchase.post.parameters.map(({ name }: { name: string }) => name);
    deepEqual(firstColumn('Headers of deliveries'), [
      ...described,
      'content-type',
      'user-agent',
      'accept-encoding',
      'traceparent',
      'tracestate',
    ]);
  });

  it('shows the example payload of every operational event', () => {
    const shown = [...section('Operational events').matchAll(/```json\n([\s\S]+?)\n```/g)];
    const payloads = shown.map(([, json = '']) => JSON.parse(json));
    const kinds = EVENT_KINDS.filter(({ operational }) => operational);
    for (const { name } of kinds) ok(section('Operational events').includes(`\`${name}\`:`), name);
    deepEqual(
      payloads,
      kinds.map(({ schema }) => (schema['examples'] as unknown[])[0]),
    );
  });
});
