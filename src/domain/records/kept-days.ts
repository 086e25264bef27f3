import { isId } from '../basics/ids.js';
import { EVENT_KIND_NAME } from '../event/event-kinds.js';

/** How long closed deliveries and payloads are kept unless the operator says otherwise, days. */
export const DEFAULT_RECORD_DAYS = '400';
export const DEFAULT_PAYLOAD_DAYS = '30';
const MAX_DAYS = 36_500;

/** How long something is kept, by account and event kind. Days. */
export interface KeptDays {
  days(accountId: string, eventKind: string): number;
  /** Days of the shortest rule. */
  readonly least: number;
  /** The text that it was read from: it tells whether the rules have changed. */
  readonly text: string;
}

/**
 * Reads rules such as `400,purchase=90,acct_01J…=30,acct_01J…/purchase=7`: a number of days for everything, then
 * exceptions for a kind, an account, or a kind of an account. The most specific rule holds: account and kind, then
 * account, then kind, then the first number.
 *
 * @throws RangeError naming the rule and the accepted form
 */
export function parseKeptDays(text: string): KeptDays {
  const [first = '', ...exceptions] = text.split(',').map((part) => part.trim());
  const general = parseDays(first);
  const rules = new Map<string, number>();
  for (const exception of exceptions) {
    const [, scope = '', days = ''] = /^([^=]+)=(.*)$/.exec(exception) ?? [];
    if (!isScope(scope))
      throw new RangeError(
        `"${exception}" is not a rule; write kind=days, account=days or account/kind=days, such as purchase=90`,
      );
    rules.set(scope, parseDays(days));
  }
  return {
    text,
    least: Math.min(general, ...rules.values()),
    days: (accountId, eventKind) =>
      rules.get(`${accountId}/${eventKind}`) ?? rules.get(accountId) ?? rules.get(eventKind) ?? general,
  };
}

function isScope(scope: string): boolean {
  const [account = '', kind, ...more] = scope.split('/');
  if (kind === undefined) return isId('account', account) || EVENT_KIND_NAME.test(account);
  return more.length === 0 && isId('account', account) && EVENT_KIND_NAME.test(kind);
}

function parseDays(text: string): number {
  const days = Number(text);
  if (!/^\d+$/.test(text) || days < 1 || days > MAX_DAYS)
    throw new RangeError(`"${text}" is not a number of days; write a whole number from 1 to ${MAX_DAYS}`);
  return days;
}
