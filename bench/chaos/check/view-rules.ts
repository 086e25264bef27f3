import { groupedBy } from '../../../src/domain/basics/objects.js';
import type { AttemptFacts, Collected, DeliveryViews, EventViews, FullRow, Row } from './collected.js';
import type { Check, Finding } from './finding.js';
import { recordOf, runsOf } from './matching.js';

/** Fields that a delivery has in lists, in its event, by itself and in an export. */
const SHARED = [
  'status',
  'created_at',
  'started_at',
  'closed_at',
  'reason',
  'workflow_id',
  'run_id',
] as const satisfies readonly (keyof Row)[];

/** All views of a delivery say the same. */
export const deliveryViews: Check = ({ deliveries }) => deliveries.flatMap(disagreements);

function disagreements(views: DeliveryViews): Finding[] {
  const { id, single, listed, ofEvent, exported, executions, isRead } = views;
  const found: Finding[] = [];
  const say = (text: string) => void found.push({ rule: 'views', id, text });
  const record = recordOf(views);
  if (!record || (isRead && !single)) {
    say(`no record has it; ${listed ? 'the list does' : 'Temporal does'}`);
    return found;
  }
  const compare = (name: string, row: Row | undefined) => {
    if (!row) return say(`${name} does not have it`);
    for (const field of SHARED)
      if (row[field] !== record[field])
        say(`${field}: ${name} has ${row[field]}, the delivery ${record[field]}`);
  };
  compare('the list', listed);
  compare('the export', exported);
  if (exported) {
    const [of, its] = exported.payload_erased
      ? [newest(exported), newest(record)]
      : [all(exported), all(record)];
    if (of !== its) say(`attempts: the export has ${of}, the delivery ${its}`);
  }
  const own = executions.find(({ runId }) => runId === record.run_id);
  if (!own) {
    const others = executions.map(({ runId }) => runId).join(', ') || 'no run';
    say(`Temporal lists it in ${others}, not in ${record.run_id}`);
  } else if (!own.isOpen && record.closed_at === undefined)
    say(`Temporal lists it as closed, and the delivery is ${record.status}`);
  if (isRead) {
    compare('the event', ofEvent);
    found.push(...singleReads(views, record));
  }
  return found;
}

/** Reads of one delivery at a time. */
function singleReads({ id, timeline, explained, certified }: DeliveryViews, record: FullRow): Finding[] {
  const found: Finding[] = [];
  const say = (text: string) => void found.push({ rule: 'views', id, text });
  const { status, attempts } = record;
  const made = runsOf(record).flat();
  // A timeline keeps what was recorded of a try that its attempt says was lost.
  const least = made.length;
  const most = made.reduce((sum, { lost_tries = 0 }) => sum + lost_tries, least);
  const its = `the delivery ${status}, ${attempts.length} attempts`;
  const told = timeline?.attempts ?? [];
  if (told.length < least || told.length > most) {
    const recorded = made.map(
      ({ number, at, lost_tries }) => `${number} ${at}${lost_tries ? ` (${lost_tries} lost)` : ''}`,
    );
    say(`the timeline has attempts at ${told.join(', ')}; the delivery ${recorded.join(', ')}`);
  }
  if (timeline?.status !== status)
    say(`status: the timeline has ${timeline?.status}, the delivery ${status}`);
  if (explained?.status !== status || explained.attempts !== attempts.length)
    say(`explain has ${explained?.code}, ${explained?.status}, ${explained?.attempts} attempts, ${its}`);
  if (!certified || 'problem' in certified)
    found.push({ rule: 'log', id, text: `its certificate ${certified?.problem ?? 'was not read'}` });
  else if (certified.status !== status || certified.attempts !== attempts.length)
    say(`the certificate has ${certified.status}, ${certified.attempts} attempts, ${its}`);
  return found;
}

/** After an erasure, the record keeps of earlier runs that they were: `docs/records.md`. */
const newest = (delivery: FullRow) => describe([delivery.attempts]);
const all = (delivery: FullRow) => describe(runsOf(delivery));

/** Numbers, times and results of all attempts. */
function describe(runs: AttemptFacts[][]): string {
  return runs
    .map((attempts) =>
      attempts
        .map(
          ({ number, at, status_code, error_code }) => `${number} ${at} ${status_code ?? error_code ?? '?'}`,
        )
        .join('; '),
    )
    .join(' | ');
}

/**
 * All views of an event say the same, and have all of its deliveries. One that was never answered 202 can be without
 * what stands for it in lists: `docs/events.md`.
 */
export const eventViews: Check = (collected) => {
  const accepted = new Set(collected.posted.flatMap(({ eventIds }) => eventIds));
  const known = new Map(collected.events.map((event) => [event.id, event]));
  const deliveries = groupedBy(collected.deliveries, ({ eventId }) => eventId);
  const missing = collected.posted.flatMap(({ eventIds }) =>
    eventIds
      .filter((id) => !known.has(id))
      .map((id): Finding => ({ rule: 'lost', id, text: 'it was accepted, and no view has the event' })),
  );
  return [
    ...missing,
    ...collected.events.flatMap((event) =>
      eventDisagreements(
        event,
        (deliveries.get(event.id) ?? []).map(({ id }) => id),
        accepted.has(event.id),
      ),
    ),
  ];
};

function eventDisagreements(
  { id, isListed, single, exported }: EventViews,
  deliveries: string[],
  isAccepted: boolean,
): Finding[] {
  const found: Finding[] = [];
  const say = (text: string) => void found.push({ rule: 'views', id, text });
  if (single && single.status !== 200) say(`GET /events/${id} answered ${single.status}`);
  if (isAccepted && !isListed) say('the list of events does not have it');
  if (!exported) say('the export does not have it');
  else if (single && (exported.isErased !== single.isErased || exported.orderId !== single.orderId))
    say(`the export has ${exported.orderId ?? 'no payload'}, the event ${single?.orderId ?? 'none'}`);
  const shown = [...(single?.deliveries ?? [])].sort().join();
  if (single?.status === 200 && shown !== [...deliveries].sort().join())
    say(`the event has ${shown}, lists have ${[...deliveries].sort().join()}`);
  return found;
}

/** After an erasure that was promised, what was accepted before it cannot be read. */
export const erased: Check = ({ acts, posted, events }) => {
  const views = new Map(events.map((event) => [event.id, event]));
  const promised = acts.filter(
    ({ name, status }) => name === 'erase-subject' && status >= 200 && status < 300,
  );
  return promised.flatMap(({ accountId, resource, atMs }) =>
    posted
      .filter((event) => event.accountId === accountId && event.subject === resource)
      .filter(({ acknowledgedMs }) => acknowledgedMs !== undefined && acknowledgedMs < atMs)
      .flatMap(({ eventIds }) => eventIds)
      .filter(
        (id) =>
          views.get(id)?.single?.orderId !== undefined || views.get(id)?.exported?.orderId !== undefined,
      )
      .map((id): Finding => ({ rule: 'erased', id, text: 'its payload can be read' })),
  );
};

/** Names of acts in changes, and of what they leave in a record. */
const DONE: Record<string, string> = {
  retried: 'retry',
  cancelled: 'cancel',
  paused: 'pause',
  resumed: 'resume',
  resent: 'resend',
  replayed: 'replay',
};

/** Actions on a delivery that changes have stand in its record, as often. */
export const acts: Check = ({ changes, deliveries }) => {
  const views = new Map(deliveries.map((one) => [one.id, one]));
  const claimed = new Map<string, number>();
  for (const { deliveryId, action, outcome } of changes) {
    const key = `${deliveryId} ${action}`;
    if (outcome === undefined || outcome === 'done') claimed.set(key, (claimed.get(key) ?? 0) + 1);
  }
  return [...claimed].flatMap(([key, count]): Finding[] => {
    const [id = '', action = ''] = key.split(' ');
    const one = views.get(id);
    const record = one && recordOf(one);
    const runs = record ? [record, ...(record.earlier_runs ?? [])] : [];
    const all = runs.flatMap(({ interventions }) => interventions ?? []);
    const done = all.filter((intervention) => intervention.action === DONE[action]).length;
    if (done >= count) return [];
    return [{ rule: 'acts', id, text: `changes have it ${action} ${count} times, its record ${done}` }];
  });
};

/** The log only grew, and the records are what the histories in Temporal say. */
export const proofs: Check = ({ log, recordDifferences }: Collected) => [
  ...log.problems.map((text): Finding => ({ rule: 'log', id: 'checkpoint', text })),
  ...(log.checkpoints.length === 0
    ? [{ rule: 'log', id: 'checkpoint', text: 'none was ever signed' } as const]
    : []),
  ...recordDifferences.map((text): Finding => ({ rule: 'views', id: 'records verify', text })),
];
