import { clock } from './clock-rules.js';
import type { Collected } from './collected.js';
import { early, genuine, lost, repeated, stuck, twice } from './delivery-rules.js';
import { feed } from './feed-rules.js';
import type { Check, Finding } from './finding.js';
import { matchAll, recordOf, successesOf } from './matching.js';
import { order } from './order-rules.js';
import { acts, deliveryViews, erased, eventViews, proofs } from './view-rules.js';

const CHECKS: readonly Check[] = [
  lost,
  stuck,
  twice,
  early,
  order,
  feed,
  clock,
  repeated,
  genuine,
  deliveryViews,
  eventViews,
  acts,
  erased,
  proofs,
];

/** Counts that are no rules: what happened. */
export interface Counts {
  /** Events that were posted, answered 202, and neither of it for certain. */
  posted: number;
  accepted: number;
  unknown: number;
  deliveries: number;
  /** Deliveries that were read in every view; the others were read in lists, the export, the rows and Temporal. */
  readSingly: number;
  /** Deliveries by their status. */
  statuses: Record<string, number>;
  requests: number;
  /** Requests answered 2xx beyond one for each run. */
  repeated: number;
  /** Requests of tries that a record says were lost and may have arrived, and those that no record knows of. */
  told: number;
  unrecorded: number;
  checkpoints: number;
  logSize: number;
}

/** Every broken rule. */
export function checkAll(collected: Collected): Finding[] {
  return CHECKS.flatMap((check) => check(collected));
}

export function countAll(collected: Collected): Counts {
  const { posted, deliveries, received, log } = collected;
  const matched = matchAll(collected);
  const accepted = posted.filter(({ eventIds }) => eventIds.length > 0).length;
  const statuses: Record<string, number> = {};
  for (const views of deliveries) {
    const status = (recordOf(views) ?? views.listed)?.status ?? 'missing';
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
  return {
    posted: posted.length,
    accepted,
    unknown: posted.length - accepted,
    deliveries: deliveries.length,
    readSingly: deliveries.filter(({ isRead }) => isRead).length,
    statuses,
    requests: received.length,
    repeated: sum(matched.map((one) => Math.max(successesOf(one).length - one.runs.length, 0))),
    told: sum(matched.map(({ told }) => told.length)),
    unrecorded: sum(matched.map(({ unrecorded }) => unrecorded.length)),
    checkpoints: log.checkpoints.length,
    logSize: Math.max(0, ...log.checkpoints.map(({ size }) => size)),
  };
}
