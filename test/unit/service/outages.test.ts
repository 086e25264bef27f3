import assert from 'node:assert/strict';
import { pino } from 'pino';
import { createOutages } from '../../../src/bin/service/outages.js';
import { until } from '../../support/until.js';

describe('an outage of a server', () => {
  const log: { level: number; msg: string }[] = [];
  let answers: boolean;
  let outages: ReturnType<typeof createOutages>;

  beforeEach(() => {
    log.length = 0;
    answers = true;
    const server = {
      name: 'MongoDB',
      isUnavailable: (error: unknown) => error instanceof RangeError,
      check: () => (answers ? Promise.resolve() : Promise.reject(new RangeError())),
    };
    const logger = pino({ level: 'info' }, { write: (line: string) => void log.push(JSON.parse(line)) });
    // Longer than a busy machine lets this process stand still between two errors.
    outages = createOutages([server], logger, { checkMs: 1, quietMs: 500 });
  });
  afterEach(() => outages.stop());

  const lines = () => log.map(({ msg }) => msg.replace(/:.*/, ''));
  const isOver = () => until(lines, (all) => all.some((line) => line.endsWith('responds again')));

  it('is one, however many requests fail by it', async () => {
    answers = false;
    for (let request = 0; request < 1_000; request += 1) assert.ok(outages.recognize(new RangeError()));
    answers = true;
    await isOver();
    assert.deepEqual(lines(), ['MongoDB does not respond, or refuses', 'MongoDB responds again']);
  });

  it('is one while the server answers when it is asked, and rejects what matters', async () => {
    for (const began = Date.now(); Date.now() - began < 60; await new Promise(setImmediate))
      outages.recognize(new RangeError());
    await isOver();
    assert.deepEqual(lines(), ['MongoDB does not respond, or refuses', 'MongoDB responds again']);
  });

  it('is none for an error of another kind', () => {
    assert.equal(outages.recognize(new Error()), false);
    assert.deepEqual(lines(), []);
  });
});
