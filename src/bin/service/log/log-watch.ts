import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { AlertRaiser } from '../../../../activities/endpoint/endpoint-incident.js';
import {
  LOG_ALTERED_REASONS,
  LogAlteredError,
  type LogAlteredReason,
} from '../../../domain/log/log-altered.js';
import { sharedDate } from '../../../domain/time/shared-time.js';
import type { WitnessAddress } from './witnesses.js';

/** Observer of the log. */
export type LogWatch = ReturnType<typeof createLogWatch>;

/** Consequence of each reason. */
const REFUSED: Partial<Record<LogAlteredReason, string>> = {
  event_altered: 'No attempt is made with an event',
  change_altered: 'A change is left out of the log',
  segment_altered: 'A segment is left out of the log',
  void_altered: 'Void numbers are left out of the log',
  end_altered: 'An account is not told of an end',
  sequence_altered: 'Numbers of events go on above all that are known',
  sequence_restored: 'Numbers of events go on above all that can have been given',
  number_twice: 'A number is not that of one event',
};

/** Faults that people have been told of, at most. */
const MAX_TOLD = 10_000;

/** Tells people of something that is not what it should be. */
export type Teller = ReturnType<typeof createTeller>;

/** Tells people once of each thing that is not what it should be, and is left out of the log. */
export function createTeller(watch: Pick<LogWatch, 'refused'>) {
  const told = new LRUCache<string, true>({ max: MAX_TOLD });
  return async (reason: LogAlteredReason, what: string, how: string): Promise<void> => {
    if (told.has(what)) return;
    told.set(what, true);
    await watch.refused(new LogAlteredError(reason, `${what} ${how}`));
  };
}

/** Tells metrics, the log of the process, and people, who hear of each reason once a day. */
export function createLogWatch(
  logger: Logger,
  registry: Registry,
  raiser: AlertRaiser | undefined,
  witnesses: readonly WitnessAddress[] = [],
) {
  const size = new Gauge({
    name: 'hookline_log_size',
    help: 'Records in the last checkpoint that this process signed or confirmed',
    registers: [registry],
  });
  const signedAt = new Gauge({
    name: 'hookline_log_signed_timestamp_seconds',
    help: 'When this process last signed or confirmed a checkpoint, seconds since the epoch',
    registers: [registry],
  });
  const refusals = new Counter({
    name: 'hookline_log_refusals_total',
    help: 'Times that no checkpoint was signed, or something was left out of the log or not sent, because the database was altered',
    labelNames: ['reason'],
    registers: [registry],
  });
  const uncosigned = new Counter({
    name: 'hookline_log_uncosigned_total',
    help: 'Times that a witness did not cosign a checkpoint when it was asked to',
    labelNames: ['witness'],
    registers: [registry],
  });
  const stampedAt = new Gauge({
    name: 'hookline_log_stamped_timestamp_seconds',
    help: 'The time in the last time stamp of a checkpoint that this process was given, seconds since the epoch',
    registers: [registry],
  });
  const unstamped = new Counter({
    name: 'hookline_log_unstamped_total',
    help: 'Times that the time-stamping service did not stamp a checkpoint when it was asked to',
    registers: [registry],
  });
  for (const reason of LOG_ALTERED_REASONS) refusals.inc({ reason }, 0);
  for (const { key } of witnesses) uncosigned.inc({ witness: key.name }, 0);
  /** @param what it is about: of the same, people are told once a day */
  const raise = async (kind: 'log.altered' | 'log.refused', what: string, said: string): Promise<void> => {
    const at = sharedDate().toISOString();
    if (!raiser?.concerns(kind)) return;
    try {
      await raiser.raise({ id: `${kind}.${what}.${at.slice(0, 10)}`, kind, at, said });
    } catch (error) {
      // A run fails for the better reason, and the next one raises it again.
      logger.error({ err: error }, 'An alert could not be raised.');
    }
  };

  return {
    /** A checkpoint stands. */
    signed(records: number): void {
      size.set(records);
      signedAt.setToCurrentTime();
    },
    /** A witness did not cosign a checkpoint. @param isRefusal it says that something is wrong with the log */
    async notCosigned({ name: witness }: { name: string }, why: string, isRefusal: boolean): Promise<void> {
      uncosigned.inc({ witness });
      const said = `The witness ${witness} did not cosign a checkpoint: ${why}.`;
      logger[isRefusal ? 'error' : 'warn']({ witness }, said);
      if (isRefusal) await raise('log.refused', witness, said);
    },
    /** A time-stamping service stamped a checkpoint. @param at the time in it */
    stamped(at: Date): void {
      stampedAt.set(at.getTime() / 1_000);
    },
    /** It did not. */
    notStamped(why: string): void {
      unstamped.inc();
      logger.warn(`The time-stamping service did not stamp a checkpoint: ${why}.`);
    },
    /** Nothing was signed, or something was left out, because the database was altered. */
    async refused({ reason, message }: LogAlteredError): Promise<void> {
      refusals.inc({ reason });
      logger.error({ reason }, `${REFUSED[reason] ?? 'The log is not signed'}: ${message}.`);
      await raise('log.altered', reason, message);
    },
  };
}
