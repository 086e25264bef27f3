import { ApplicationFailure } from '@temporalio/common';
import { WorkflowRunOperationHandler } from '@temporalio/nexus';
import * as nexus from 'nexus-rpc';
import { notFound, type Problem } from '../../domain/http/problem.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { type EventOutcome, MAX_AWAITED_DELIVERIES } from '../../domain/view/event-outcome.js';
import { startOutcomeWait } from '../../temporal/write/accept/outcome-waits.js';
import { requireActive } from '../http/caller/acting-account.js';
import type { ApiDependencies } from '../http/context.js';
import { knownProblem, OUT_OF_REACH } from '../http/middleware/problems.js';
import { invalidRequest } from '../http/validation.js';
import type { Limiters } from '../limits/limiters.js';
import {
  type CheckedEvent,
  checkEvent,
  type EventRequest,
  type IntakeDependencies,
  storeEvent,
} from '../routes/events/accept-event.js';
import { renderAcceptance } from '../routes/events/event-view.js';
import { readEventInput } from './event-input.js';

/** The Nexus service by which workflows of others publish events. */
const eventsService = nexus.service('hookline', {
  /** Completes when the event is accepted. */
  publish: nexus.operation<unknown, ReturnType<typeof renderAcceptance>>(),
  /** Completes when all deliveries of the event are closed. */
  publishAndWait: nexus.operation<unknown, EventOutcome>(),
});

/** Parts that the service accepts events with. */
export type EventsServiceDependencies = IntakeDependencies &
  Pick<ApiDependencies, 'settings' | 'logger' | 'isUnavailable'> & { limiters: Pick<Limiters, 'account'> };

/** Makes the service for the workflows that publish for one account. */
export function createEventsService(
  dependencies: EventsServiceDependencies,
  accountId: string,
): nexus.ServiceHandler {
  const { settings } = dependencies;
  const accept = (ctx: nexus.StartOperationContext, input: unknown, check?: (event: CheckedEvent) => void) =>
    acceptInput(dependencies, accountId, readEventInput(input, ctx.requestId), check);
  const carryOut = <T>({ requestId }: nexus.StartOperationContext, work: () => Promise<T>): Promise<T> =>
    work().catch((error: unknown) => {
      throw handlerErrorOf(dependencies, error, requestId);
    });
  return nexus.serviceHandler(eventsService, {
    publish: (ctx, input) =>
      carryOut(ctx, async () => {
        const { kind, kept } = await accept(ctx, input);
        return renderAcceptance(kind, kept);
      }),
    publishAndWait: new WorkflowRunOperationHandler((ctx, input) =>
      carryOut(ctx, async () => {
        const { kind, kept } = await accept(ctx, input, requireFewDeliveries);
        const { event_id, targets } = kept;
        const awaited = { account_id: accountId, event_id, event_kind: kind, delivery_count: targets.length };
        return startOutcomeWait(ctx, settings.HOOKLINE_TASK_QUEUE, awaited);
      }),
    ),
  });
}

/**
 * Accepts the event of an operation by the rules of `POST /events/{kind}`.
 *
 * @param check what else it must meet
 * @throws Problem
 */
async function acceptInput(
  dependencies: EventsServiceDependencies,
  accountId: string,
  request: EventRequest,
  check: (event: CheckedEvent) => void = () => {},
) {
  const { database, limiters, isUnavailable } = dependencies;
  const account = await database.accounts.current(accountId);
  if (!account) throw notFound('account', accountId);
  requireActive(account);
  const { limits, platform_id = accountId } = account;
  const { refusal, giveBack } = limiters.account.consume(accountId, sharedNow(), limits?.events_per_minute);
  if (refusal) throw refusal;
  try {
    const owner = { account: accountId, platform: platform_id };
    const checked = await checkEvent(dependencies, owner, request);
    check(checked);
    return { kind: checked.kind, kept: await storeEvent(dependencies, owner, checked) };
  } catch (error) {
    if (isUnavailable(error)) giveBack();
    throw error;
  }
}

function requireFewDeliveries({ targets }: CheckedEvent): void {
  if (targets.length <= MAX_AWAITED_DELIVERIES) return;
  const detail = `goes to ${targets.length} endpoints: publishAndWait waits for at most ${MAX_AWAITED_DELIVERIES} deliveries`;
  throw invalidRequest([{ detail }]);
}

/** An error as the caller's workflow gets it: Temporal tries again what may succeed later, and nothing else. */
function handlerErrorOf(
  { logger, isUnavailable }: EventsServiceDependencies,
  error: unknown,
  requestId: string,
): nexus.HandlerError {
  const problem = knownProblem(error);
  if (problem) {
    const { status } = problem;
    const type = status === 429 ? 'RESOURCE_EXHAUSTED' : status >= 500 ? 'UNAVAILABLE' : 'BAD_REQUEST';
    return handlerError(type, problem.message, problemFailure(problem));
  }
  if (isUnavailable(error)) return handlerError('UNAVAILABLE', OUT_OF_REACH);
  logger.error({ request_id: requestId, err: error }, 'A Nexus operation has failed.');
  return handlerError('INTERNAL', `The error has been logged. Quote the request id ${requestId}.`);
}

function problemFailure({ code, message, errors }: Problem): ApplicationFailure {
  const details = errors.length > 0 ? [errors] : [];
  const failure = ApplicationFailure.create({ type: code, message, details });
  failure.stack = '';
  return failure;
}

/** Has no stack: the caller is told nothing of the code here. */
const handlerError = (type: nexus.HandlerErrorType, message: string, cause?: Error) =>
  new nexus.HandlerError(type, message, { cause, stackTrace: '' });
