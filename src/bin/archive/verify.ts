import type { Settings } from '../../config/schema.js';
import type { ArchivedEvent } from '../../domain/archive/archived.js';
import { differencesOf } from '../../domain/archive/differences.js';
import type { ClosedExecution, DeliveryToArchive, EventToArchive } from '../../domain/archive/to-archive.js';
import { ClosedExecutionFinder } from '../../temporal/read/archive/closed-windows.js';
import { CommandError, type Values } from '../command.js';
import { createLogger, say } from '../process/output.js';
import { connectServers, type Servers } from '../service/servers.js';

const DAY_MS = 24 * 3_600_000;
const WIDTH_MS = 3_600_000;

/** A delivery that the archive does not have as the ledger has it. */
interface Difference {
  id: string;
  what: string;
}

/** Compares the archive with the ledger, of what both should have, and says every difference. @returns whether there is none */
export async function verifyArchive(settings: Settings, { from, to }: Values): Promise<boolean> {
  createLogger({ ...settings, HOOKLINE_LOG_LEVEL: 'error' });
  const servers = await connectServers(settings);
  try {
    const upTo = await servers.database.archive.upTo();
    if (!upTo) throw new CommandError('Nothing is archived yet: no run of the archive has ended.');
    const start =
      timeOf('--from', from) ?? new Date(upTo.getTime() - settings.HOOKLINE_RETENTION_DAYS * DAY_MS);
    const asked = timeOf('--to', to) ?? upTo;
    const end = asked < upTo ? asked : upTo;
    let compared = 0;
    let different = 0;
    for await (const result of compareAll(settings, servers, start, end)) {
      compared += result.compared;
      different += result.differences.length;
      for (const { id, what } of result.differences) say(`${id}  ${what}`);
    }
    say(
      `${compared} deliveries compared that closed from ${start.toISOString()} until ${end.toISOString()}: ` +
        (different === 0 ? 'no difference.' : `${different} differ.`),
    );
    return different === 0;
  } finally {
    await servers.temporal.close();
    await servers.database.close();
  }
}

async function* compareAll(
  settings: Settings,
  { temporal, sealer, database: { archive } }: Servers,
  start: Date,
  end: Date,
): AsyncIterable<{ compared: number; differences: Difference[] }> {
  const finder = new ClosedExecutionFinder(temporal.client, settings.HOOKLINE_TASK_QUEUE, sealer, archive);
  for (let from = start; from < end; ) {
    const window = await finder.closedFrom(from, end, WIDTH_MS);
    for (const execution of window.executions) yield compareOne(execution, archive);
    from = window.to;
  }
}

async function compareOne(
  execution: ClosedExecution,
  archive: Servers['database']['archive'],
): Promise<{ compared: number; differences: Difference[] }> {
  const known = await archive.known(execution.runs.map(({ id }) => id));
  const differences: Difference[] = [];
  const same = new Set<string>();
  for (const { id, run_id, run_order } of execution.runs) {
    const found = known.get(id);
    if (!found) differences.push({ id, what: 'is not in the archive' });
    else if (found.run_id === run_id) same.add(id);
    else if (found.run_order < run_order)
      differences.push({ id, what: `is archived in an earlier run, ${found.run_id}, and not in ${run_id}` });
  }
  const { deliveries, events } = same.size > 0 ? await execution.read(same) : { deliveries: [], events: [] };
  for (const delivery of deliveries) {
    const what = await deliveryDifference(delivery, archive);
    if (what) differences.push({ id: delivery.id, what });
  }
  for (const event of events) {
    const archived = await archive.event(event.account_id, event.id);
    const what = eventDifference(event, archived);
    if (what) differences.push({ id: event.id, what });
  }
  return { compared: execution.runs.length, differences };
}

async function deliveryDifference(
  delivery: DeliveryToArchive,
  archive: Servers['database']['archive'],
): Promise<string | undefined> {
  const { archived, altered } = (await archive.stored(delivery.account_id, delivery.id)) ?? {};
  const pointers = archived ? differencesOf(delivery, archived) : [];
  const differs = pointers.length > 0 ? `differs in ${pointers.join(', ')}` : undefined;
  if (!altered) return differs;
  return differs ? `was altered, and ${differs}` : altered.how;
}

/** A payload that is past its time is not in the archive any more, which is no difference. */
function eventDifference(event: EventToArchive, archived: ArchivedEvent | undefined): string | undefined {
  if (!archived) return 'is not in the archive';
  if (!archived.kept) return undefined;
  const isSame = event.sealed ? archived.kept.sealed === event.payload : archived.payload === event.payload;
  return isSame ? undefined : 'differs in its payload';
}

function timeOf(option: string, text: Values[string]): Date | undefined {
  if (text === undefined) return undefined;
  const time = new Date(String(text));
  if (Number.isNaN(time.getTime()))
    throw new CommandError(`${option} must be a time such as 2026-01-31T12:00:00Z, not "${String(text)}".`);
  return time;
}
