import type { SaltedChange } from '../../domain/archive/record.js';
import { type ChangeDocument, toSalted } from './change-document.js';
import type { ChangeSeal } from './change-seal.js';

/** A change with what the log is to know of it. */
export interface LoggableChange extends SaltedChange {
  accountId: string;
  /** What shows that it is not as it was written; absent if it is. */
  wrong: string | undefined;
  /** It is an act, and nobody has said or found out yet how it ended. */
  isPending: boolean;
  /** Its number in the log, as its document says; absent if it says that the log does not have it. */
  leafIndex: number | undefined;
  /** When its resource got the version before, if that was lately: the change that did it is still kept then, whatever the settings were. */
  follows: Date | undefined;
}

/** No setting keeps changes for less than a day; MongoDB may be an hour early, by another clock. Milliseconds. */
const SURELY_KEPT_MS = 23 * 3_600_000;

export function toLoggable(document: ChangeDocument, seal: ChangeSeal): LoggableChange {
  const { leaf_index, in_log, before_at } = document;
  const isKept = before_at && before_at.getTime() > Date.now() - SURELY_KEPT_MS;
  return {
    accountId: document.account_id,
    ...toSalted(document),
    wrong: seal.whatIsWrong(document),
    isPending: document.outcome === 'pending',
    leafIndex: in_log === true ? (leaf_index ?? -1) : undefined,
    follows: isKept ? before_at : undefined,
  };
}
