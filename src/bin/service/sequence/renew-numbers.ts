import type { Logger } from 'pino';
import type { NumberSource } from '../../../domain/sequence/number-source.js';
import { SEQUENCE } from '../../../domain/sequence/sequence.js';
import { isDatabaseUnavailable } from '../../../models/mongo/unavailable.js';

/** Has a process say that it is there while it has blocks of numbers, and give back what it does not use. @returns gives all of them back */
export function renewNumbers(numbers: NumberSource, logger: Logger): { stop(): Promise<void> } {
  const failed = (error: unknown) => {
    // An outage is logged once, by who notices it first.
    if (!isDatabaseUnavailable(error))
      logger.warn({ err: error }, 'Numbers of events were not renewed or given back. This is tried again.');
  };
  let renewing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    renewing = renewing.then(() => numbers.renew()).catch(failed);
  }, SEQUENCE.renewEveryMs);
  return {
    async stop() {
      clearInterval(timer);
      await renewing;
      await numbers.stop().catch(failed);
    },
  };
}
