import { groupedBy } from '../../../src/domain/basics/objects.js';
import type { Collected, DeliveryViews, EndpointFacts, Posted, Received } from './collected.js';
import { type Check, type Finding, isNearFault } from './finding.js';
import { isSuccess, type Matched, matchAll, recordOf, successesOf } from './matching.js';

const OPEN = new Set(['delivering', 'retrying', 'parked']);
/**
 * Clocks and timers are exact to a millisecond or two; attempts are noted as they begin, requests as they have arrived.
 * Milliseconds.
 */
const TOLERANCE_MS = 10;

/** Every accepted event was delivered, or its delivery ended as somebody wanted. */
export const lost: Check = (collected) => {
  const matched = new Map(matchAll(collected).map((one) => [one.views.id, one]));
  return collected.posted.flatMap((event) =>
    event.eventIds.flatMap((eventId) =>
      expectedOf(collected, event, eventId).flatMap((id): Finding[] => {
        const one = matched.get(id);
        const why = one ? whyLost(collected, event, one) : 'no view has it';
        return why === undefined ? [] : [{ rule: 'lost', id, text: why }];
      }),
    ),
  );
};

/** Nothing is open, in any view. */
export const stuck: Check = ({ deliveries, openInStats, posted, unsettled }) => [
  ...unsettled.map((text): Finding => ({ rule: 'stuck', id: 'after the last fault', text })),
  ...deliveries
    .map((views) => ({ id: views.id, shown: recordOf(views) ?? views.listed }))
    .filter(({ shown }) => OPEN.has(shown?.status ?? ''))
    // The oldest first: others may wait for it.
    .sort((one, other) => (one.id < other.id ? -1 : 1))
    .map(({ id, shown }): Finding => {
      return { rule: 'stuck', id, text: `is ${shown?.status}: ${shown?.reason}` };
    }),
  ...Object.entries(openInStats)
    .filter(([, open]) => open !== 0)
    .map(([id, open]): Finding => ({ rule: 'stuck', id, text: `GET /stats counts ${open} open deliveries` })),
  ...posted
    .filter(
      ({ key, eventIds, answers, isGivenUp }) =>
        key !== undefined && eventIds.length === 0 && !isGivenUp && !wasRefused(answers),
    )
    .map(({ orderId, answers }): Finding => {
      return { rule: 'stuck', id: orderId, text: `was never accepted: ${answers.join(', ') || 'no answer'}` };
    }),
];

/** A repeat with the same key is the same event, and a delivery is one execution unless somebody sent it again. */
export const twice: Check = ({ posted, deliveries, events }) => {
  const ofOrder = groupedBy(events, ({ single, exported }) => single?.orderId ?? exported?.orderId);
  return [
    ...posted.flatMap(({ orderId, eventIds }): Finding[] => {
      const all = [...new Set([...eventIds, ...(ofOrder.get(orderId) ?? []).map(({ id }) => id)])];
      return all.length < 2 ? [] : [{ rule: 'twice', id: orderId, text: `is the events ${all.join(', ')}` }];
    }),
    ...deliveries.flatMap((views): Finding[] => {
      const { id, executions } = views;
      const workflows = new Map(
        executions.map(({ workflowId, isOpen }) => [workflowId, isOpen ? 'open' : 'closed']),
      );
      if (workflows.size < 2 || wasResent(views)) return [];
      const each = [...workflows].map(([workflowId, status]) => `${workflowId} (${status})`);
      return [{ rule: 'twice', id, text: `stands for it in Temporal: ${each.join(', ')}` }];
    }),
  ];
};

/** No attempt came before its time: by the records, and by what receivers asked for. */
export const early: Check = (collected) => {
  const schedules = new Map(collected.endpoints.map((endpoint) => [endpoint.id, endpoint]));
  return matchAll(collected).flatMap((one) => [
    ...one.runs.flatMap((run) => beforeSchedule(one.views, run, schedules.get(one.views.endpointId))),
    ...one.runs.flatMap((run) => beforeRetryAfter(one.views, run)),
    ...beforeItsEvent(collected, one),
  ]);
};

/**
 * A delivery that had succeeded was not sent again, nor was anything sent that the record lacks, unless a fault was
 * near.
 */
export const repeated: Check = (collected) =>
  matchAll(collected).flatMap((one) => {
    const { views, unrecorded, runs } = one;
    const successes = successesOf(one);
    // Each run may succeed once.
    const extra = successes.slice(1).filter((request, index) => {
      const before = successes[index] as Received;
      return successes.length > runs.length && !isNearFault(collected, before.atMs, request.atMs);
    });
    return [
      ...extra.map(({ attempt, atMs }): Finding => {
        return { rule: 'repeated', id: views.id, text: `attempt ${attempt} at ${time(atMs)}` };
      }),
      ...unrecorded
        .filter(({ atMs }) => !isNearFault(collected, atMs))
        .map(({ attempt, atMs, answered }): Finding => {
          const text = `attempt ${attempt} at ${time(atMs)}, answered ${answered ?? 'nothing'}`;
          return { rule: 'unrecorded', id: views.id, text };
        }),
    ];
  });

/** Bodies are those that were posted, signatures are valid, and no attempt or event is made up. */
export const genuine: Check = (collected) => {
  const { posted, received, events } = collected;
  const byEvent = new Map(posted.flatMap((event) => event.eventIds.map((id) => [id, event] as const)));
  const orders = new Map(posted.map((event) => [event.orderId, event]));
  const orderOf = new Map(
    events.map(({ id, single, exported }) => [id, single?.orderId ?? exported?.orderId]),
  );
  const eventOf = (id: string) => byEvent.get(id) ?? orders.get(orderOf.get(id) ?? '');
  return [
    ...received.flatMap(({ path, eventId, attempt, sha256, isSigned }): Finding[] => {
      const about = `${eventId} ${path}`;
      const event = eventOf(eventId);
      return [
        ...(isSigned ? [] : [{ rule: 'unsigned', id: about, text: `attempt ${attempt}` } as const]),
        ...(event && event.sha256 !== sha256
          ? [{ rule: 'altered', id: about, text: `attempt ${attempt}` } as const]
          : []),
      ];
    }),
    ...events
      .filter(({ id, single, exported }) => !eventOf(id) && !(single ?? exported)?.isErased)
      .map(({ id }): Finding => ({ rule: 'invented', id, text: 'no producer posted it' })),
    ...matchAll(collected).flatMap(({ views, runs }) =>
      runs.flat().flatMap(({ attempt, request }): Finding[] => {
        if (attempt.status_code === undefined || attempt.status_code === request?.answered) return [];
        const seen = request ? `answered ${request.answered ?? 'nothing'}` : 'never got it';
        const text = `attempt ${attempt.number} is recorded as ${attempt.status_code}, and its receiver ${seen}`;
        return [{ rule: 'invented', id: views.id, text }];
      }),
    ),
  ];
};

/**
 * Deliveries that an accepted event has. An answer that does not list them counts them, and then all of the account's
 * endpoints get it.
 */
function expectedOf({ endpoints }: Collected, event: Posted, eventId: string): string[] {
  if (event.deliveryIds) return event.deliveryIds;
  const ulid = eventId.slice('evt_'.length);
  return endpoints
    .filter(({ accountId }) => accountId === event.accountId)
    .map(({ id }) => `dlv_${ulid}_${id.slice('ep_'.length)}`);
}

function whyLost(collected: Collected, event: Posted, one: Matched): string | undefined {
  const { views, received } = one;
  const record = recordOf(views);
  const status = record?.status;
  if (status === undefined || OPEN.has(status)) return undefined; // the rules of views and of what is stuck have it
  if (received.some(isSuccess)) return undefined;
  if (status === 'delivered') return 'is shown as delivered, and its receiver never answered 2xx';
  if (status === 'exhausted') {
    const schedule = collected.endpoints.find(({ id }) => id === views.endpointId)?.schedule ?? [];
    const made = one.runs.at(-1)?.length ?? 0;
    return made > schedule.length
      ? undefined
      : `is exhausted after ${made} attempts of ${schedule.length + 1}`;
  }
  if (status === 'cancelled' && mayBeCancelled(collected, event, views)) return undefined;
  return `is ${status}: ${record?.reason}`;
}

function mayBeCancelled({ acts }: Collected, { accountId, subject }: Posted, { id }: DeliveryViews): boolean {
  return acts.some(
    (act) =>
      (act.name === 'cancel' && act.resource === id) ||
      (act.name === 'erase-subject' && act.accountId === accountId && act.resource === subject) ||
      (act.name === 'delete-account' && act.accountId === accountId),
  );
}

/** Whether somebody sent it again, or for the first time by a replay. */
export function wasResent(views: DeliveryViews): boolean {
  const record = recordOf(views);
  if ((record?.earlier_runs?.length ?? 0) > 0) return true;
  return (record?.interventions ?? []).some(({ action }) => action === 'resend' || action === 'replay');
}

function wasRefused(answers: readonly number[]): boolean {
  const last = answers.at(-1) ?? 0;
  return last >= 400 && last < 500 && last !== 429;
}

type Run = Matched['runs'][number];

/**
 * By the rules of `src/domain/delivery/delivery-machine.ts`: a failed attempt of the schedule plans the next one, and
 * one that was made besides leaves the plan as it is. A probe never counts as one of the schedule.
 */
function beforeSchedule({ id }: DeliveryViews, run: Run, endpoint: EndpointFacts | undefined): Finding[] {
  let failed = 0;
  let plannedMs: number | undefined;
  return run.flatMap(({ attempt }): Finding[] => {
    const atMs = Date.parse(attempt.at);
    const isProbe = attempt.trigger === 'probe';
    const isExtra = isProbe || attempt.trigger === 'manual' || attempt.trigger === 'released';
    const isEarly = !isExtra && plannedMs !== undefined && atMs < plannedMs - TOLERANCE_MS;
    const text = `attempt ${attempt.number} (${attempt.trigger}) at ${attempt.at}, planned for ${time(plannedMs ?? 0)}`;
    const endMs = atMs + attempt.duration_ms;
    // The endpoint takes nothing any more: there is no plan until it does.
    if (attempt.status_code === 410 || attempt.error_code === 'blocked_address') plannedMs = undefined;
    else if (!isProbe && !(isExtra && plannedMs !== undefined && plannedMs > endMs)) {
      failed += 1;
      const wait = endpoint?.schedule[failed - 1];
      plannedMs = wait === undefined ? undefined : endMs + wait;
    }
    return isEarly ? [{ rule: 'early', id, text }] : [];
  });
}

/**
 * The time that a receiver asked for by `Retry-After`, and Hookline recorded, holds for all later attempts but those
 * made on request.
 */
function beforeRetryAfter({ id }: DeliveryViews, run: Run): Finding[] {
  return run.flatMap(({ attempt, request }, index): Finding[] => {
    const notBefore = Math.max(...run.slice(0, index).map((earlier) => earlier.request?.notBeforeMs ?? 0));
    if (!request || attempt.trigger === 'manual' || request.atMs >= notBefore - TOLERANCE_MS) return [];
    const text = `attempt ${attempt.number} (${attempt.trigger}) at ${time(request.atMs)}, not to be made before ${time(notBefore)}`;
    return [{ rule: 'early', id, text }];
  });
}

/** The event was scheduled for a later time. */
function beforeItsEvent({ posted }: Collected, { views: { id, eventId }, received }: Matched): Finding[] {
  const at = posted.find(({ eventIds }) => eventIds.includes(eventId))?.scheduled?.deliverAtMs ?? 0;
  return received
    .filter(({ atMs }) => atMs < at - TOLERANCE_MS)
    .map(({ attempt, atMs }): Finding => {
      return { rule: 'early', id, text: `attempt ${attempt} at ${time(atMs)}, scheduled for ${time(at)}` };
    });
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
