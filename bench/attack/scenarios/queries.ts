import { mainThreadTimeOf } from '../../../test/support/parts/thread-time.js';
import { type Attack, type Hostile, insist, type Target } from '../attack.js';

/** Characters of a head that Node.js takes, less what stands around a query. */
const QUERY = 15_800;
/** Requests one after another, of which the processor time is told. */
const MEASURED = 20;

const NAMES = 'a&'.repeat(QUERY / 2);
const PATHS = ['/v18.0/me', '/v18.0/log/checkpoint', '/oauth/authorize', '/v18.0/events/purchase'];

export const names: Attack = {
  name: 'query-names',
  about: `queries of ${QUERY / 2} short names without a token, from 20 connections`,
  environment: () => ({ HOOKLINE_RATE_LIMIT_ADDRESS: '300/1m' }),
  async prepare(target) {
    const hostile = await target.account();
    process.stdout.write(`  ${await cost(target, hostile)}\n`);
    return (stop) => insist(20, stop, (side) => ask(hostile, side));
  },
};

const ask = (hostile: Hostile, side: number) =>
  hostile.request('GET', `${PATHS[side % PATHS.length]}?${NAMES}`, undefined, { authorization: '' });

/** Cost of requests to the main thread of the service before anything else is asked of it. */
async function cost({ system }: Target, hostile: Hostile): Promise<string> {
  const before = mainThreadTimeOf(system.pid);
  for (let at = 0; at < MEASURED; at += 1) await ask(hostile, 0);
  const after = mainThreadTimeOf(system.pid);
  if (before === undefined || after === undefined)
    return 'this system does not count processor time by thread.';
  return `a request takes ${((after - before) / MEASURED).toFixed(1)} ms of the main thread.`;
}
