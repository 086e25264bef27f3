import { toPointer } from '../../../packages/payload-contract/src/json-pointer.js';
import { isObject } from '../basics/objects.js';

/** How long changes are kept unless the operator says otherwise, days. */
export const DEFAULT_CHANGES_DAYS = 400;

/** Resources whose changes are recorded. */
export const RESOURCE_KINDS = [
  'account',
  'api_key',
  'delivery',
  'desk_session',
  'endpoint',
  'erasure',
  'event_kind',
  'login',
  'oauth_client',
  'portal_session',
  'profile',
  'replay',
] as const;

export type ResourceKind = (typeof RESOURCE_KINDS)[number];

/** Name of a resource in changes: its kind and its id, such as `endpoint:ep_…`. A login has its profile's id. */
export function resourceName(kind: ResourceKind, id: string): string {
  return `${kind}:${id}`;
}

/** Characters of the reason that somebody gives for a change. */
export const MAX_REASON_LENGTH = 300;

/** Actions that changes record. */
export const CHANGE_ACTIONS = [
  'created',
  'updated',
  'paused',
  'resumed',
  'disabled',
  'verified',
  'verification_failed',
  'secret_rotated',
  'secret_retired',
  'revoked',
  'deleted',
  'retried',
  'cancelled',
  'resent',
  'replayed',
] as const;

export type ChangeAction = (typeof CHANGE_ACTIONS)[number];

/**
 * Whether it was done. Changes of resources are recorded together with them, so they are always done. An act upon
 * Temporal is recorded before it:
 *
 * - `done`: it had its effect
 * - `refused`: it had none, and will have none
 * - `unknown`: the process that took the action did not report it, for example because it was killed. It is found out
 * from Temporal after a while; what Temporal has removed by then stays unknown
 */
export const CHANGE_OUTCOMES = ['done', 'refused', 'unknown'] as const;

export type ChangeOutcome = (typeof CHANGE_OUTCOMES)[number];

export const ACTOR_TYPES = [
  'api_key',
  'oauth_client',
  'portal_session',
  'person',
  'operator',
  'subscriber',
  'system',
] as const;

/** Author of a change. */
export interface Actor {
  type: (typeof ACTOR_TYPES)[number];
  /**
   * An API key, OAuth client or portal session has its id here; a person who signed in to the desk has the subject, as
   * the identity provider has it; the system names the part of it: `deletion`, `erasure`, `incident`, `listener`,
   * `rotation` or `verification`.
   */
  id: string;
  /** The profile of the person for whom an OAuth client acts. */
  person?: string;
  /** The actor's account, if it is another than the one that is changed: its platform, or the operator's. */
  account_id?: string;
}

/** The attempt that had something changed. */
export interface ChangeCause {
  delivery_id: string;
  /** Its number. */
  attempt: number;
}

/** Where a change comes from. It goes with every change to the repositories. */
export interface Origin {
  actor: Actor;
  /**
   * The caller's address, as the API sees it past the proxies that it trusts; of an endpoint's response, the address
   * that answered.
   */
  address?: string;
  /** The request that asked for it. */
  request_id?: string;
  /** Why, as the actor says it. */
  reason?: string;
  /** The replay that did it for the actor. */
  replay?: string;
  /** The attempt that it was done because of: its response, or the last failure of many. */
  caused_by?: ChangeCause;
}

/** An origin as histories of workflows have it: the rest of it is kept in MongoDB. */
export interface NamedOrigin {
  actor: Actor;
  /** Where the rest is kept; absent: there is none. */
  input_id?: string;
}

/** The person at the command line. */
export const OPERATOR: Origin = { actor: { type: 'operator', id: 'operator' } };

/** A subscriber, who proves that by a token of its own or by what its endpoint answers. */
export function subscriberOrigin(from: Omit<Origin, 'actor'> = {}): Origin {
  return { ...from, actor: { type: 'subscriber', id: 'subscriber' } };
}

/** The parts of Hookline that change something by themselves. */
type SystemPart = 'deletion' | 'erasure' | 'incident' | 'listener' | 'rotation' | 'verification';

/** Hookline itself. */
export function systemOrigin(id: SystemPart): Origin {
  return { actor: { type: 'system', id } };
}

/** How a resource is shown: no secrets in it. */
export type ShownResource = Record<string, unknown>;

/** A version of a resource, or something done to a delivery. */
export interface Change extends Origin {
  id: string;
  outcome: ChangeOutcome;
  /** Kind and id, such as `endpoint:ep_…`. */
  resource: string;
  /** 1 for what created it, and one more for each change; absent for deliveries, whose record Temporal keeps. */
  version?: number;
  action: ChangeAction;
  /** ISO 8601, UTC. */
  at: string;
  /** JSON Pointers (RFC 6901) of what is different; of secrets, too, which are never shown. */
  changed: string[];
  /** State before; absent for a new resource, and for deliveries. */
  before?: ShownResource;
  /** State after; absent for one that was deleted, and for deliveries. */
  after?: ShownResource;
}

/** Say when and how often, and not what was changed. */
const HOUSEKEEPING = new Set(['status_changed_at', 'updated_at', 'version']);

/**
 * Differences between two versions of a resource: JSON Pointers of its fields, and one level into fields that are
 * objects. An absent version has no fields.
 */
export function changedPointers(before: ShownResource = {}, after: ShownResource = {}): string[] {
  return namesIn(before, after).flatMap((name) => {
    const [was, is] = [before[name], after[name]];
    if (HOUSEKEEPING.has(name) || isSame(was, is)) return [];
    if (!isObject(was) || !isObject(is)) return [toPointer([name])];
    return namesIn(was, is)
      .filter((inner) => !isSame(was[inner], is[inner]))
      .map((inner) => toPointer([name, inner]));
  });
}

function namesIn(a: object, b: object): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])];
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
