import {
  ACCOUNT_ATTRIBUTE,
  ENDPOINT_ATTRIBUTE,
  EVENT_ATTRIBUTE,
} from '../../../domain/ledger/search-attributes.js';
import { type Meanings, meaningsOf } from '../../../domain/list/delivery-filter.js';
import { type Clause, equals, isAfter, isNot, isOneOf } from './query.js';

/** All accounts together: only for counts that name no account, and for what the installation does itself. */
export const EVERY_ACCOUNT = Symbol('every account');

/** One account, or all of them. */
export type Whose = string | typeof EVERY_ACCOUNT;

type OneOrMore = string | readonly string[];

/**
 * Conditions by which executions are found besides their account; several values are alternatives, and an absent
 * condition does not matter.
 */
export interface Sought {
  type?: OneOrMore | undefined;
  status?: OneOrMore | undefined;
  taskQueue?: string | undefined;
  endpoint?: OneOrMore | undefined;
  event?: OneOrMore | undefined;
  /** It has not carried on as another run: such a run does not stand for anything any more. */
  isCurrent?: true | undefined;
  /** It closed at this time or later, or just before. */
  since?: Date | undefined;
}

const named = (attribute: string) => (values: OneOrMore) =>
  typeof values === 'string' ? equals(attribute, values) : isOneOf(attribute, values);

/** The clauses by which executions are sought. */
const SOUGHT_BY: Meanings<Sought & { account?: OneOrMore | undefined }, Clause> = {
  type: named('WorkflowType'),
  status: named('ExecutionStatus'),
  taskQueue: named('TaskQueue'),
  account: named(ACCOUNT_ATTRIBUTE.name),
  endpoint: named(ENDPOINT_ATTRIBUTE.name),
  event: named(EVENT_ATTRIBUTE.name),
  isCurrent: () => isNot('ExecutionStatus', 'ContinuedAsNew'),
  // SQL stores compare times as texts, which for a time with zeros at its end is not exact.
  since: (time) => isAfter('CloseTime', new Date(time.getTime() - 2)),
};

/**
 * The clauses that find executions by all of this.
 *
 * @param whose which account's: nobody gets those of all by leaving something out
 */
export function where(whose: Whose, sought: Sought): Clause[] {
  const account = whose === EVERY_ACCOUNT ? undefined : whose;
  return meaningsOf(SOUGHT_BY, { ...sought, account }, undefined);
}
