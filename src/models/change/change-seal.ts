import { SealError, type SecretBox } from '../../domain/access/secret-box.js';
import { canonicalJson, changeRecord, type SaltedChange } from '../../domain/archive/record.js';
import { RecordAlteredError } from '../../domain/archive/record-altered.js';
import type { Change } from '../../domain/change/change.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { type ChangeDocument, toChange, toSalted } from './change-document.js';

/** A change with what the log is to know of it. */
export interface LoggableChange extends SaltedChange {
  accountId: string;
  /** What shows that it is not as it was written; absent if it is. */
  wrong: string | undefined;
  /** It is an act, and nobody has said or found out yet how it ended. */
  isPending: boolean;
  /** Its number in the log, as its document says; absent if it says that the log does not have it. */
  leafIndex: number | undefined;
  /**
   * When its resource got the version before, if that was lately: the change that did it is still kept then, whatever
   * the settings were.
   */
  follows: Date | undefined;
}

/** No setting keeps changes for less than a day; MongoDB may be an hour early, by another clock. Milliseconds. */
const SURELY_KEPT_MS = 23 * 3_600_000;

/** What the tags of changes are of. */
const PURPOSE = 'change';

/**
 * Tags changes from the first write on, under a key that is not in the database: until the log has a leaf of a change,
 * nothing else shows that somebody has altered it.
 */
export class ChangeSeal {
  private readonly box: SecretBox | undefined;

  /** @param box absent: changes get no tag, and the log does not take them */
  constructor(box: SecretBox | undefined) {
    this.box = box;
  }

  tag(document: ChangeDocument): string | undefined {
    return this.box?.tag(recordOf(document), PURPOSE);
  }

  /** What shows that a change is not as it was written; `undefined` if it is. */
  whatIsWrong(document: ChangeDocument): string | undefined {
    const { tag } = document;
    if (!tag) return 'has no tag';
    if (!this.box) return 'cannot be checked without HOOKLINE_SECRET_KEYS';
    try {
      return this.box.isTagged(tag, recordOf(document), PURPOSE) ? undefined : 'is not what was written';
    } catch (error) {
      if (error instanceof SealError) return `cannot be checked: ${error.message}`;
      throw error;
    }
  }

  /** A change for whoever reads it. @throws RecordAlteredError if it was altered */
  unaltered(document: ChangeDocument): Change {
    const altered = this.alteration(document);
    if (altered) throw altered;
    return toChange(document);
  }

  /** That a change was altered; `undefined` if it was not, or if there is no key to tell. */
  alteration(document: ChangeDocument): RecordAlteredError | undefined {
    const wrong = this.box && this.whatIsWrong(document);
    return wrong === undefined ? undefined : new RecordAlteredError(document._id, wrong);
  }

  /**
   * Another tag for a change whose tag has an older key than the newest; `undefined` if it needs none, or was altered.
   */
  newerTag(document: ChangeDocument): string | undefined {
    const isDue = document.tag && this.box?.isOutdated(document.tag);
    return isDue && this.whatIsWrong(document) === undefined ? this.tag(document) : undefined;
  }

  /** A change as the log may take it. */
  loggable(document: ChangeDocument): LoggableChange {
    const { leaf_index, in_log, before_at } = document;
    const isKept = before_at && before_at.getTime() > sharedNow() - SURELY_KEPT_MS;
    return {
      accountId: document.account_id,
      ...toSalted(document),
      wrong: this.whatIsWrong(document),
      isPending: document.outcome === 'pending',
      leafIndex: in_log === true ? (leaf_index ?? -1) : undefined,
      follows: isKept ? before_at : undefined,
    };
  }
}

function recordOf(document: ChangeDocument): string {
  return canonicalJson(changeRecord(document.account_id, toSalted(document)));
}
