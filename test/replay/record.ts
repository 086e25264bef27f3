import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { endShared } from '../support/at-end.js';
import { fetchHistory, toJson } from '../support/history.js';
import { startReceiver } from '../support/receiver.js';
import { startServersOfRun } from '../support/run-servers.js';
import { setServers } from '../support/servers.js';
import { startSystem } from '../support/system.js';
import type { Scenario } from './scenarios/stage.js';
import { SCENARIOS } from './scenarios.js';

// Records the histories that replay.test.ts replays: `npm run record-histories`, or with names only those.
// After a release a history is not recorded anew: the ones that are kept stand for executions that still run somewhere.

/** A history with more characters is compressed. */
const LARGE = 500_000;

async function record(name: string, { settings, play }: Scenario): Promise<void> {
  const system = await startSystem(settings);
  const receiver = await startReceiver();
  try {
    const { workflowId, runId } = await play({ system, client: await system.account(), receiver });
    const json = toJson(await fetchHistory(system, workflowId, runId));
    const anonymous = `${anonymize(json)}\n`;
    const file = fileURLToPath(new URL(`histories/${name}.json`, import.meta.url));
    if (anonymous.length < LARGE) await writeFile(file, anonymous);
    else await writeFile(`${file}.gz`, gzipSync(anonymous, { level: 9 }));
    process.stdout.write(`${name}\n`);
  } finally {
    await receiver.close();
    await system.stop();
  }
}

/** Removes user, machine and folder of the recording from a history. */
function anonymize(json: string): string {
  return json
    .replace(/("identity": )"[^"]*"/g, '$1"recorder"')
    .replace(/("stackTrace": )"(?:[^"\\]|\\.)*"/g, '$1""')
    .replace(/"\d+@[^"]*"/g, '"sticky"');
}

const chosen = process.argv.slice(2);
const scenarios = Object.entries(SCENARIOS).filter(([name]) => chosen.length === 0 || chosen.includes(name));
for (const suggestAfter of new Set(scenarios.map(([, scenario]) => scenario.suggestAfter))) {
  const { servers, stop } = await startServersOfRun(suggestAfter);
  setServers(servers);
  try {
    for (const [name, scenario] of scenarios)
      if (scenario.suggestAfter === suggestAfter)
        await record(name, scenario).catch((error: unknown) => {
          process.stderr.write(`${name}: ${error}\n`);
          process.exitCode = 1;
        });
  } finally {
    await endShared();
    await stop();
  }
}
