import { HOSTILE_NUMBERS } from '../../../test/support/parts/hostile-numbers.js';
import { mainThreadTimeOf } from '../../../test/support/parts/thread-time.js';
import { type Attack, insist } from '../attack.js';

const ENDPOINTS = 20;
const PAYLOADS = Object.values(HOSTILE_NUMBERS);

/** Numbers that no double stands for, as many and as long as a payload has room for, and filters beside them. */
export const numbers: Attack = {
  name: 'numbers',
  about: `events of 256 KiB of numbers that no double stands for, to ${ENDPOINTS} endpoints with a filter on /total`,
  async prepare({ system, account }) {
    const hostile = await account();
    for (let at = 0; at < ENDPOINTS; at += 1)
      await hostile.request('POST', '/v18.0/endpoints', {
        target_url: `https://x${at}.example.com/`,
        event_kinds: ['purchase'],
        filter: { path: '/total', greater_than: 100 },
      });
    for (const [what, payload] of Object.entries(HOSTILE_NUMBERS)) {
      const before = mainThreadTimeOf(system.pid) ?? Number.NaN;
      for (let time = 0; time < 5; time += 1)
        await hostile.request('POST', '/v18.0/events/purchase', payload);
      const each = ((mainThreadTimeOf(system.pid) ?? Number.NaN) - before) / 5;
      process.stdout.write(`  ${what}: ${each.toFixed(0)} ms of the main thread for an event.\n`);
    }
    return (stop) =>
      insist(4, stop, (side) =>
        hostile.request('POST', '/v18.0/events/purchase', PAYLOADS[side % PAYLOADS.length]),
      );
  },
};
