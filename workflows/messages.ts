import type { UpdateDefinition } from '@temporalio/common';
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Alert } from '../src/domain/alert/alert.js';
import type { DeliveryRecord } from '../src/domain/delivery/delivery.js';
import type { DeliveryActor, Release } from '../src/domain/delivery/delivery-group.js';
import type { Action } from '../src/domain/delivery/delivery-machine.js';
import type { FailureReport } from '../src/domain/endpoint/breaker/incident.js';
import type { VerificationSubject } from '../src/domain/endpoint/endpoint.js';
import type { ReplayIntervention, ReplayProgress } from '../src/domain/replay/replay.js';
import { cutText } from '../src/domain/text/unicode.js';

/** Author of an action: the id of an API key, or a name given in Temporal UI, which can send anything or nothing. */
export interface Operator {
  by?: string;
  /** The replay that acts for them. */
  replay?: string;
}

const MAX_NAME = 200;

/** The name under which an act is recorded, whatever was sent. */
export function operatorName(operator: unknown): string {
  const by = typeof operator === 'object' && operator !== null && 'by' in operator ? operator.by : operator;
  return typeof by === 'string' && by.trim() !== '' ? cutText(by.trim(), MAX_NAME) : 'an operator';
}

const REPLAY_ID = /^rpl_[0-9A-Z]{26}$/;

/** The replay that acts for an operator; `undefined` if none does, whatever was sent. */
export function replayIn(operator: unknown): string | undefined {
  const { replay } = (operator ?? {}) as Operator;
  return typeof replay === 'string' && REPLAY_ID.test(replay) ? replay : undefined;
}

/** Actions of an operator on an open delivery, by their names in the HTTP interface and the record. */
export const ACTIONS = ['retry', 'cancel', 'pause', 'resume'] as const satisfies readonly Action[];

/** Order to change a delivery. */
export interface Act extends Operator {
  action: Action;
  /** The delivery's id; may be absent if the execution has one delivery. */
  delivery?: string;
}

/** The order in whatever was sent: the name of the action alone will do. */
export function actIn(order: unknown): Partial<Act> {
  return typeof order === 'string' ? { action: order as Action } : ((order ?? {}) as Partial<Act>);
}

/** Author of an action, whatever was sent. */
export function actorOf(operator: unknown): DeliveryActor {
  // An act by its name alone says nobody's.
  const sent = typeof operator === 'string' ? undefined : operator;
  return { by: operatorName(sent), replay: replayIn(sent) };
}

/**
 * Does something to a delivery where it is. Every act is refused while an attempt is in flight, and `retry` while the
 * delivery is paused. `resume` continues the schedule where it was.
 */
export const act = defineUpdate<DeliveryRecord, [Act | Action | undefined]>('act');

/** Attempts at the endpoint failed. Opens an incident. */
export const attemptFailed = defineSignal<[FailureReport]>('attemptFailed');

/** An attempt at the endpoint succeeded. Ends the incident. */
export const attemptSucceeded = defineSignal('attemptSucceeded');

/**
 * The endpoint answered 410 Gone. The arguments name the attempt, which disables it, and the version since which the
 * endpoint has had the URL that was attempted.
 */
export const endpointGone = defineSignal<[string, number]>('endpointGone');

/** An endpoint takes deliveries again, or is gone: those that are parked for it, or wait for a retry, are due. */
export const release = defineSignal<[Release]>('release');

/** Something happened that people are to be alerted to. */
export const raiseAlert = defineSignal<[Alert]>('raiseAlert');

/** Scope of a release of an endpoint's backlog. */
export interface ReleaseScope {
  /** Whether deliveries that wait for a retry go along with those that are parked. */
  retries: boolean;
}

/** The backlog of the endpoint is to be released again: more may have been parked since this release began. */
export const releaseAgain = defineSignal<[ReleaseScope]>('releaseAgain');

/** An endpoint's signing secrets have been rotated, or revoked: read them again. */
export const secretsChanged = defineSignal('secretsChanged');

/** An endpoint has changed while it was being verified, or its owner asks for it: its verification begins again. */
export const verifyAgain = defineSignal('verifyAgain');

/** A subscriber's call of the confirmation URL: what it confirmed, and what it allows. */
export interface Confirmation extends VerificationSubject {
  /** Deliveries per minute that it allows; absent: any number. */
  allowed_rate?: number;
}

/** The subscriber of an endpoint that waits to be verified has called the confirmation URL, with the right token. */
export const confirmed = defineSignal<[Confirmation]>('confirmed');

export type ReplayUpdate = UpdateDefinition<ReplayProgress, [Operator | undefined]>;

/** Actions of an operator on a replay, by their names in the HTTP interface. */
export const REPLAY_UPDATES: Record<ReplayIntervention['action'], ReplayUpdate> = {
  /** Act on nothing more until the replay is resumed. Work in progress is completed: about a second's worth. */
  pause: defineUpdate('pauseReplay'),
  resume: defineUpdate('resumeReplay'),
  /** Act on nothing more at all. Completed work stays. */
  cancel: defineUpdate('cancelReplay'),
};
