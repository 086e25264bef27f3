import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { mock } from 'node:test';
import { firstToOpen } from '../src/first-to-open.js';

const v4 = (last: number) => ({ address: `192.0.2.${last}`, family: 4 });
const v6 = (last: number) => ({ address: `2001:db8::${last}`, family: 6 });
const coded = (code: string) => Object.assign(new Error(code), { code });
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Connections that open or fail when the test says so. */
class Openings {
  readonly tried: string[] = [];
  readonly unwanted: string[] = [];
  private readonly ends = new Map<string, (outcome: Socket | Error) => void>();

  readonly open = ({ address }: { address: string }, signal: AbortSignal) =>
    new Promise<Socket>((resolve, reject) => {
      this.tried.push(address);
      signal.addEventListener('abort', () => this.unwanted.push(address));
      this.ends.set(address, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)));
    });

  async end(address: string, outcome: Socket | Error = new Socket()): Promise<void> {
    this.ends.get(address)?.(outcome);
    await settled();
  }
}

describe('the first connection to open', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());
  const begin = (addresses: Parameters<typeof firstToOpen>[0], limit = new AbortController()) => {
    const openings = new Openings();
    const first = firstToOpen(addresses, openings.open, { nextAfterMs: 250, signal: limit.signal });
    first.catch(() => {});
    return { openings, first, limit };
  };

  it('may be one that is slow, though another address refuses', async () => {
    const { openings, first } = begin([v6(1), v4(1)]);
    await openings.end('2001:db8::1', coded('ECONNREFUSED'));
    assert.deepEqual(openings.tried, ['2001:db8::1', '192.0.2.1']);
    mock.timers.tick(60_000);
    const socket = new Socket();
    await openings.end('192.0.2.1', socket);
    assert.deepEqual(await first, { socket, address: '192.0.2.1' });
  });

  it('may be an earlier one that opens after the next one was begun, and the others are given up', async () => {
    const { openings, first } = begin([v4(1), v4(2)]);
    mock.timers.tick(249);
    assert.equal(openings.tried.length, 1);
    mock.timers.tick(1);
    assert.equal(openings.tried.length, 2);
    await openings.end('192.0.2.1');
    assert.equal((await first).address, '192.0.2.1');
    assert.ok(openings.unwanted.includes('192.0.2.2'));
    const late = new Socket();
    await openings.end('192.0.2.2', late);
    assert.ok(late.destroyed);
  });

  it('is looked for in both families by turns, IPv6 first, and at no more than eight addresses', async () => {
    const { openings } = begin([v4(1), v4(2), v4(3), v6(1), v6(2)]);
    for (let turn = 0; turn < 10; turn += 1) mock.timers.tick(250);
    assert.deepEqual(openings.tried, ['2001:db8::1', '192.0.2.1', '2001:db8::2', '192.0.2.2', '192.0.2.3']);
    const many = begin(Array.from({ length: 4_000 }, (_, index) => v4(index)));
    for (let turn = 0; turn < 100; turn += 1) mock.timers.tick(250);
    assert.equal(many.openings.tried.length, 8);
  });

  it('failing to come, the error is one that says something about the endpoint', async () => {
    const { openings, first } = begin([v6(1), v4(1)]);
    await openings.end('2001:db8::1', coded('ENETUNREACH'));
    await openings.end('192.0.2.1', coded('ECONNREFUSED'));
    await assert.rejects(first, { code: 'ECONNREFUSED' });
    const alone = begin([v6(1)]);
    await alone.openings.end('2001:db8::1', coded('ENETUNREACH'));
    await assert.rejects(alone.first, { code: 'ENETUNREACH' });
  });

  it('is not waited for any longer than its limit', async () => {
    const { openings, first, limit } = begin([v4(1), v4(2)]);
    limit.abort(coded('ETIMEDOUT'));
    await assert.rejects(first, { code: 'ETIMEDOUT' });
    assert.deepEqual(openings.unwanted, ['192.0.2.1']);
    mock.timers.tick(1_000);
    assert.equal(openings.tried.length, 1);
    await assert.rejects(begin([v4(1)], limit).first, { code: 'ETIMEDOUT' });
  });
});
