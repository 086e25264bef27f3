import { log } from '@temporalio/activity';
import { UNITS } from '../../src/domain/basics/duration.js';
import type { DeliveryRows, TerminatedExecutions } from '../../src/domain/records/told.js';
import { sharedNow, temporalClock } from '../../src/domain/time/shared-time.js';
import { whileBeating } from '../while-beating.js';

/** Visibility lists an execution a moment after it has closed: what closed so shortly before is looked at again. */
const LISTED_LATE_MS = 5 * UNITS.m;
/** The first run looks back so far: Temporal keeps nothing longer than that, unless it is set to. */
const FIRST_LOOK_MS = 3 * UNITS.d;

/** Where executions that were terminated are found, and their rows kept. */
export interface TerminatedPorts {
  terminated: TerminatedExecutions;
  rows: Pick<DeliveryRows, 'terminated'>;
}

/** Since when executions are looked at. A Temporal payload. */
interface TerminatedRequest {
  /** `until` of the last call; absent for the first. */
  since?: string | undefined;
}

/** Closes the rows of deliveries whose executions were terminated in Temporal. Repeated, it closes none twice. */
export function createRecordTerminated({ terminated, rows }: TerminatedPorts) {
  return function recordTerminated({ since }: TerminatedRequest): Promise<{ until: string }> {
    return whileBeating(async () => {
      const now = Math.min(temporalClock.now(), sharedNow());
      const from = since === undefined ? now - FIRST_LOOK_MS : Date.parse(since) - LISTED_LATE_MS;
      const found = terminated.since(new Date(from), new Date(now), (error) =>
        log.warn('Deliveries of an execution that was terminated stay open', { error }),
      );
      for await (const execution of found) await rows.terminated(execution);
      return { until: new Date(now).toISOString() };
    });
  };
}
