import { cp, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { installRuntime } from '../../src/temporal/server/connection.js';
import { canFillDisks } from './faults/servers.js';
import { FAULT_KINDS, type FaultName } from './plan/kinds.js';
import { kindsIn, planOf, tell } from './plan/plan.js';
import { reportOn, tellReport } from './report.js';
import { run } from './run.js';

const USAGE = `npm run chaos -- [--seed 1] [--minutes 2] [--rate 30] [--nodes 2] [--sample 300] [--only name,…]
                 [--out report.json] [--keep folder] [--plan]

Runs Temporal, the MongoDB server, Hookline processes, producers and receivers, makes faults that the seed chooses, and checks every view
afterwards. Ends with code 1 if a rule was broken.

  --only name,…   these kinds of fault alone; --plan lists all
  --rate 30       events a second, of all accounts
  --sample 300    what happened to no other is compared in lists, the export, the records and Temporal; so many of it in every view
  --out FILE      the report as JSON
  --keep FOLDER   copies what the processes wrote, and all that was collected
  --plan          prints the plan, and does nothing`;

const say = (line = '') => process.stdout.write(`${line}\n`);
const progress = (line: string) => process.stderr.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '2' },
    rate: { type: 'string', default: '30' },
    nodes: { type: 'string', default: '2' },
    sample: { type: 'string', default: '300' },
    only: { type: 'string' },
    out: { type: 'string' },
    keep: { type: 'string' },
    plan: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const [seed, minutes, rate, nodes, sample] = [
  values.seed,
  values.minutes,
  values.rate,
  values.nodes,
  values.sample,
].map(Number) as [number, number, number, number, number];
const possible = FAULT_KINDS.filter(({ strikes }) => strikes !== 'disk' || canFillDisks).map(
  ({ name }) => name,
);
const names = values.only?.split(',') ?? possible;
const unknown = names.filter((name) => !FAULT_KINDS.some((kind) => kind.name === name));
const isWrong =
  !Number.isInteger(seed) ||
  !(minutes > 0) ||
  !(rate > 0) ||
  !(nodes >= 1) ||
  !(sample >= 1) ||
  unknown.length > 0;
if (isWrong || values.help) {
  say(USAGE);
  if (unknown.length > 0) say(`\nThere is no kind of fault ${unknown.join(', ')}.`);
  process.exit(values.help ? 0 : 1);
}

const plan = planOf(seed, minutes * 60_000, names as FaultName[]);
for (const line of tell(plan)) say(line);
if (values.plan) {
  for (const { name, about } of FAULT_KINDS) say(`${name.padEnd(22)} ${about}`);
  process.exit(0);
}
const left = FAULT_KINDS.length - possible.length;
if (left > 0) say(`${left} kinds of fault are left out: this machine has no prlimit.`);
say(
  `${kindsIn(plan).length} kinds of fault; ${cpus().length} cores, Node.js ${process.version}, ${nodes} processes`,
);

installRuntime(pino({ level: 'silent' }), undefined);
const { keep } = values;
const { collected, ended } = await run({
  plan,
  nodes,
  perSecond: rate,
  sample,
  report: progress,
  ...(keep !== undefined && { atEnd: ({ logFolder }) => cp(logFolder, keep, { recursive: true }) }),
});
const report = reportOn(seed, collected, ended);
for (const line of tellReport(report)) say(line);
if (values.out !== undefined) await writeFile(values.out, `${JSON.stringify(report, undefined, 2)}\n`);
if (keep !== undefined) await writeFile(`${keep}/collected.json`, JSON.stringify(collected));
process.exitCode = report.isWell ? 0 : 1;
