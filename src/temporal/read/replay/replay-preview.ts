import { deliveryId } from '../../../domain/basics/delivery-id.js';
import type { Registration, SelectingPlan } from '../../../domain/replay/replay.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { findForReplay } from './replay-finder.js';
import type { ReplayCursor, ReplaySources } from './replay-page.js';

/** Ids that are shown of what is counted. */
export const SAMPLE_SIZE = 10;
/** A page is not kept, so it may be long. */
const PAGE_SIZE = 2_000;
/** A preview ends after about this, counted so far. Milliseconds. */
const PREVIEW_TIME_MS = 3_000;

/** How many there are, and the first of their ids. */
export interface Counted {
  count: number;
  sample: string[];
}

/** Preview of a replay. */
export interface ReplayPreview {
  /** Deliveries that it would find. */
  found: number;
  /** Those that it would skip, because their endpoint was deleted. */
  skipped: number;
  /** The ids of the first others. */
  sample: string[];
  /** Whether everything has been counted: the time for a response is limited. */
  complete: boolean;
  /** Up to when events have been looked through. ISO 8601, UTC. */
  up_to: string;
  /** For `missed`, those of `found` that the endpoint never had. */
  never_sent?: number;
  /** For `missed`, the effect of the chosen registration. */
  difference?: {
    compared_with: Registration;
    /** Events that the other registration does not select. */
    added: Counted;
    /** Events that only the other one selects: they would not be sent. */
    left_out: Counted;
  };
}

/** Counts what a replay would do, without doing anything. */
export async function previewReplay(sources: ReplaySources, plan: SelectingPlan): Promise<ReplayPreview> {
  const chosen = plan.registration ?? 'now';
  const other = chosen === 'now' ? 'then' : 'now';
  const [sent, added, leftOut] = [new DeliveryCount(), new DeliveryCount(), new DeliveryCount()];
  let [skipped, neverSent] = [0, 0];
  const deadline = sharedNow() + PREVIEW_TIME_MS;
  let cursor: ReplayCursor | undefined;
  let up_to: string;
  do {
    const options = { compared: [chosen, other], size: PAGE_SIZE };
    const page = await findForReplay(sources, plan, cursor, options);
    for (const { item, is_gone, selected_by: [byChosen, byOther] = [true, true] } of page.found) {
      const id = deliveryId(item);
      if (byChosen && !byOther) added.add(id);
      if (!byChosen) leftOut.add(id);
      else if (is_gone) skipped += 1;
      else sent.add(id);
      if (byChosen && item.is_new) neverSent += 1;
    }
    cursor = page.next;
    up_to = page.up_to;
  } while (cursor && sharedNow() < deadline);
  return {
    found: sent.count + skipped,
    skipped,
    sample: sent.sample,
    complete: cursor === undefined,
    up_to,
    ...(plan.mode === 'missed' && {
      never_sent: neverSent,
      difference: { compared_with: other, added: added.counted, left_out: leftOut.counted },
    }),
  };
}

class DeliveryCount {
  count = 0;
  readonly sample: string[] = [];

  add(id: string): void {
    this.count += 1;
    if (this.sample.length < SAMPLE_SIZE) this.sample.push(id);
  }

  get counted(): Counted {
    return { count: this.count, sample: this.sample };
  }
}
