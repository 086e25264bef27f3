import type { Collected, DeliveryViews, EventViews, FullRow, Row } from './collected.js';
import type { Check, Finding } from './finding.js';
import { runsOf } from './matching.js';

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
  const { id, single, listed, ofEvent, timeline, explained, exported, certified, executions } = views;
  const found: Finding[] = [];
  const say = (text: string) => void found.push({ rule: 'views', id, text });
  if (!single) {
    say(`GET /deliveries/${id} does not have it; ${listed ? 'the list does' : 'Temporal does'}`);
    return found;
  }
  const compare = (name: string, row: Row | undefined) => {
    if (!row) return say(`${name} does not have it`);
    for (const field of SHARED)
      if (row[field] !== single[field])
        say(`${field}: ${name} has ${row[field]}, the delivery ${single[field]}`);
  };
  compare('the list', listed);
  compare('the event', ofEvent);
  compare('the export', exported);
  if (exported) {
    const attempts = describe(exported);
    if (attempts !== describe(single))
      say(`attempts: the export has ${attempts}, the delivery ${describe(single)}`);
  }
  const all = runsOf(single).flat().length;
  if (!timeline) say('it has no timeline');
  else if (timeline.attempts !== all)
    say(`attempts: the timeline has ${timeline.attempts}, the delivery ${all}`);
  if (timeline && timeline.status !== single.status)
    say(`status: the timeline has ${timeline.status}, the delivery ${single.status}`);
  if (explained?.status !== single.status || explained.attempts !== single.attempts.length)
    say(
      `explain has ${explained?.code}, ${explained?.status}, ${explained?.attempts} attempts, the delivery ${single.status}, ${single.attempts.length}`,
    );
  if (!certified) say('it was not certified');
  else if ('problem' in certified)
    found.push({ rule: 'log', id, text: `its certificate ${certified.problem}` });
  else if (certified.status !== single.status || certified.attempts !== single.attempts.length)
    say(
      `the certificate has ${certified.status}, ${certified.attempts} attempts, the delivery ${single.status}, ${single.attempts.length}`,
    );
  const own = executions.find(({ runId }) => runId === single.run_id);
  if (!own)
    say(
      `Temporal lists it in ${executions.map(({ runId }) => runId).join(', ') || 'no run'}, not in ${single.run_id}`,
    );
  else if (own.status !== single.status)
    say(`status: Temporal lists ${own.status}, the delivery has ${single.status}`);
  return found;
}

/** Numbers, times and results of all attempts. */
function describe(delivery: FullRow): string {
  return runsOf(delivery)
    .map((attempts) =>
      attempts
        .map(
          ({ number, at, status_code, error_code }) => `${number} ${at} ${status_code ?? error_code ?? '?'}`,
        )
        .join('; '),
    )
    .join(' | ');
}

/** All views of an event say the same, and have all of its deliveries. */
export const eventViews: Check = (collected) => {
  const known = new Map(collected.events.map((event) => [event.id, event]));
  const deliveries = new Map<string, string[]>();
  for (const { id, eventId } of collected.deliveries)
    deliveries.set(eventId, [...(deliveries.get(eventId) ?? []), id]);
  const missing = collected.posted.flatMap(({ eventIds }) =>
    eventIds
      .filter((id) => !known.has(id))
      .map((id): Finding => ({ rule: 'lost', id, text: 'it was accepted, and no view has the event' })),
  );
  return [
    ...missing,
    ...collected.events.flatMap((event) => eventDisagreements(event, deliveries.get(event.id) ?? [])),
  ];
};

function eventDisagreements({ id, isListed, single, exported }: EventViews, deliveries: string[]): Finding[] {
  const found: Finding[] = [];
  const say = (text: string) => void found.push({ rule: 'views', id, text });
  if (single?.status !== 200) say(`GET /events/${id} answered ${single?.status}`);
  if (!isListed) say('the list of events does not have it');
  if (!exported) say('the export does not have it');
  else if (exported.isErased !== single?.isErased || exported.orderId !== single.orderId)
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

/** The log only grew, and the archive is what the histories in Temporal say. */
export const proofs: Check = ({ log, archiveDifferences }: Collected) => [
  ...log.problems.map((text): Finding => ({ rule: 'log', id: 'checkpoint', text })),
  ...(log.checkpoints.length === 0
    ? [{ rule: 'log', id: 'checkpoint', text: 'none was ever signed' } as const]
    : []),
  ...archiveDifferences.map((text): Finding => ({ rule: 'views', id: 'archive verify', text })),
];
