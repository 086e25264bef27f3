import type { Attempt } from '../attempt/attempt.js';
import type { Change } from '../change/change.js';
import { commitTo } from '../privacy/data-key.js';
import { toJson } from '../text/unicode.js';
import { canonicalJson } from './canonical-json.js';

/**
 * Data that a record commits to and does not contain, because it can be personal: where each attempt of a delivery went
 * and what came back, or what a change changed, from where and why. The record has a commitment to it, and certificates
 * open that.
 */
export type Details = DeliveryDetails | ChangeDetails;

/** Besides what the record says of the delivery. */
export interface DeliveryDetails {
  reason?: string;
  attempts: AttemptDetails[];
}

/** An attempt besides what the record says of it, and besides what follows from that. */
type AttemptDetails = Omit<Attempt, (typeof RECORDED)[number] | 'sealed'>;

/** Besides what the record says of the change. */
export interface ChangeDetails
  extends Pick<Change, 'address' | 'request_id' | 'reason' | 'caused_by' | 'before' | 'after'> {
  /** The profile of the person for whom the actor acted. */
  person?: string;
  /** The actor's account, if it is another. */
  actor_account_id?: string;
}

/**
 * Fields of an attempt that the record itself contains, or that follow from it; `number` and `lost_tries` stand in
 * both.
 */
const RECORDED = [
  'at',
  'duration_ms',
  'trigger',
  'endpoint_version',
  'status_code',
  'error_code',
  'url_host',
] as const;
const OMITTED = new Set<string>([...RECORDED, 'webhook_timestamp', 'sealed']);

/** @param delivery as it is shown when it is read by itself */
export function deliveryDetails({
  reason,
  attempts,
}: {
  reason?: string | undefined;
  attempts: readonly Attempt[];
}): DeliveryDetails {
  const committed = attempts.map((attempt) =>
    Object.fromEntries(Object.entries(attempt).filter(([name]) => !OMITTED.has(name))),
  );
  return plain({ reason, attempts: committed }) as DeliveryDetails;
}

export function changeDetails(change: Change): ChangeDetails {
  const { address, request_id, reason, caused_by, actor, before, after } = change;
  const { person, account_id: actor_account_id } = actor;
  return plain({ address, request_id, reason, caused_by, person, actor_account_id, before, after });
}

/** The commitment to details. @param salt of the record, which nothing else is committed to with */
export function commitToDetails(salt: Buffer, details: Details): string {
  return commitTo(salt, canonicalJson(details));
}

/**
 * As a reader of its JSON has it: without what is absent, in well-formed Unicode. Texts that people send may contain
 * half of a surrogate pair.
 */
function plain<T extends object>(value: { [Name in keyof T]: T[Name] | undefined }): T {
  return JSON.parse(toJson(value)) as T;
}
