import type { Context as ActivityContext } from '@temporalio/activity';
import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { ActivityInterceptors } from '@temporalio/worker';
import { errorClass } from '../../domain/text/error-class.js';

/**
 * Errors that activities throw stand in histories by their class and code: their messages may name hosts and URLs. The
 * log of the process has the messages. A failure that an activity reports itself, as one of Temporal's, is kept.
 */
export function namesFailures({ log }: ActivityContext): ActivityInterceptors {
  return {
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          if (error instanceof TemporalFailure || !(error instanceof Error) || error.name === 'AbortError')
            throw error;
          log.warn('An activity has failed', { err: error });
          throw ApplicationFailure.create({ type: error.name, message: errorClass(error) });
        }
      },
    },
  };
}
