import { type Delivery, type DeliveryStatus, isOpen, type Schemas } from '../../api/types.js';

type VerdictCode = Schemas['Verdict']['code'];

/** How a delivery stands, in a few words. @param code the verdict on it, once it is known */
export function headlineOf(
  { status, attempts }: Pick<Delivery, 'status' | 'attempts'>,
  code: VerdictCode | undefined,
): string {
  if (standsStill(status, code)) return 'It stands still: the service cannot go on with it.';
  const least = attempts.some(({ lost_tries }) => lost_tries !== undefined) ? 'at least ' : '';
  const count = least + (attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`);
  if (status === 'delivered') return `Delivered after ${count}.`;
  if (status === 'retrying') return `Not delivered yet: ${count} so far.`;
  if (status === 'parked') return 'Waiting: no attempt is made for now.';
  if (status === 'delivering') return 'On its way.';
  return `Not delivered: given up after ${count}.`;
}

/**
 * Whether nothing comes of what a delivery waits for, and nothing that its subscriber does helps. The verdict may be
 * from before it went on.
 */
export function standsStill(status: DeliveryStatus, code: VerdictCode | undefined): boolean {
  return isOpen(status) && (code === 'workflow_failing' || code === 'event_altered');
}
