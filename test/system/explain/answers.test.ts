import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const DOCUMENT = 'docs/answers.md';

/**
 * Text without what differs from run to run: ids, times, ports, durations and hashes. The same one has the same name
 * throughout an answer.
 */
function withoutChance(text: string): string {
  const names = new Map<string, string>();
  return text
    .replace(/(_?)([0-7][0-9A-HJKMNP-TV-Z]{25})/g, (_whole, before, ulid) => {
      names.set(ulid, names.get(ulid) ?? `ID${names.size}`);
      return before + names.get(ulid);
    })
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME')
    .replace(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, 'DATE')
    .replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'RUN')
    .replace(/localhost:\d+/g, 'localhost:PORT')
    .replace(/("(?:duration_ms|dns|connect|tls|first_byte|webhook_timestamp)": )\d+/g, '$1N')
    .replace(/\b\d+(\.\d+)? ?ms\b/g, 'N ms')
    .replace(/(127\.0\.0\.1|::1)(:\d+)?/g, 'ADDRESS');
}

/** Things of the same moment are in no particular order: lines of a timeline are compared as a set. */
function inOrder(text: string, isLines: boolean): string {
  const plain = withoutChance(text.trim());
  return isLines ? plain.split('\n').sort().join('\n') : plain;
}

interface Row {
  status?: string;
  closed_at?: string;
}

/** So are open deliveries that were started together. */
function openByStatus(answer: { data?: Row[] }): unknown {
  const rank = ({ status, closed_at }: Row) => (closed_at ? '~' : (status ?? ''));
  return {
    ...answer,
    ...(answer.data && { data: answer.data.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)) }),
  };
}

describe('docs/answers.md [world]', () => {
  let system: SharedSystem;
  let client: ApiClient;
  const receivers: Receiver[] = [];

  before(async () => {
    system = await sharedSystem({ HOOKLINE_RETRY_SCHEDULE: '5s,5m,30m' });
    client = await system.account();
  });
  after(async () => {
    for (const receiver of receivers) await receiver.close();
  });

  const register = async (status: number, more: Record<string, unknown>) => {
    const receiver = await startReceiver({ handler: reply(status) });
    receivers.push(receiver);
    return (await client.register(receiver.url, more)).id;
  };

  it('has the answers that the calls give', async () => {
    await register(200, { description: 'Order processing' });
    const failing = await register(503, { description: 'Loyalty points', retry_schedule: ['1h'] });
    const filtered = await register(200, {
      description: 'Large orders',
      filter: { path: '/total', at_least: 100 },
    });
    const paused = await register(200, { description: 'Warehouse' });
    const pause = await client.request('PATCH', `/v18.0/endpoints/${paused}`, {
      body: { status: 'paused', status_reason: 'Stock-taking until Monday.' },
    });
    assert.equal(pause.status, 200, pause.text);
    const order = await client.purchase(JSON.stringify({ ...JSON.parse(PURCHASE), order_id: '1001' }));
    const deliveryTo = (id: string) =>
      order.deliveries.find(({ endpoint_id }) => endpoint_id === id)?.id ?? '';
    await client.deliveryUntil(deliveryTo(failing), ({ status }) => status === 'retrying');
    await client.deliveryUntil(deliveryTo(paused), ({ status }) => status === 'parked');
    const read = async (path: string) => (await client.request('GET', path)).json;
    await until(
      () => read('/v18.0/deliveries?key=order_id:1001'),
      ({ data }) =>
        data.length === 3 && data.every(({ status }: { status: string }) => status !== 'delivering'),
    );
    await until(
      () => read(`/v18.0/stats?endpoint_id=${failing}`),
      ({ open }) => open.by_status.retrying === 1,
    );
    await until(
      () => read('/v18.0/endpoints?health=failing'),
      ({ data }) => data[0]?.incident !== undefined,
    );

    const key = 'key=order_id:1001';
    const calls: Record<string, [path: string, accept?: string]> = {
      order: [`/v18.0/deliveries?${key}`],
      timeline: [`/v18.0/deliveries/${deliveryTo(failing)}/timeline`, 'text/plain'],
      next: [`/v18.0/explain?endpoint_id=${failing}&${key}`],
      filter: [`/v18.0/explain?endpoint_id=${filtered}&${key}`],
      paused: [`/v18.0/explain?endpoint_id=${paused}&${key}`],
      change: [`/v18.0/changes?resource=endpoint:${paused}&limit=1`],
      failing: ['/v18.0/endpoints?health=failing'],
      stats: [`/v18.0/stats?endpoint_id=${failing}`],
      open: ['/v18.0/deliveries?open=true'],
    };
    let document = await readFile(DOCUMENT, 'utf8');
    for (const [name, [path, accept]] of Object.entries(calls)) {
      const answer = await client.request('GET', path, accept ? { headers: { accept } } : {});
      assert.equal(answer.status, 200, answer.text);
      const body = accept ? answer.text.trimEnd() : JSON.stringify(openByStatus(answer.json), null, 2);
      const fence = '```';
      const block = `\n${fence}http\nGET ${path}\n${fence}\n\n${fence}${accept ? 'text' : 'json'}\n${body}\n${fence}\n`;
      const mark = `<!-- answer: ${name} -->\n`;
      const begin = document.indexOf(mark) + mark.length;
      const end = document.indexOf('<!-- end -->\n', begin);
      assert.ok(begin >= mark.length, `the document has no ${mark}`);
      const next = document.indexOf('<!-- answer:', begin);
      const isFilled = end >= 0 && (next < 0 || end < next);
      if (process.env['UPDATE_SNAPSHOTS']) {
        const rest = document.slice(isFilled ? end + '<!-- end -->\n'.length : begin);
        document = `${document.slice(0, begin)}${block}\n<!-- end -->\n${rest}`;
      } else {
        assert.equal(inOrder(document.slice(begin, end), !!accept), inOrder(block, !!accept), name);
      }
    }
    if (process.env['UPDATE_SNAPSHOTS']) await writeFile(DOCUMENT, document);
  });
});
