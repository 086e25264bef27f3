import type { Model } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { UNITS } from '../../domain/basics/duration.js';
import type { Change } from '../../domain/change/change.js';
import { canonicalJson, changeRecord, type SaltedChange } from '../../domain/records/record.js';
import { RecordAlteredError } from '../../domain/records/record-altered.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { NO_LEAF } from '../log/in-log.js';
import { Tags, textOf } from '../mongo/tags.js';
import { type ChangeDocument, changes, toChange, toSalted } from './change-document.js';

/** A change with what the log is to know of it. */
export interface LoggableChange extends SaltedChange {
  accountId: string;
  /** Difference from what was written; absent if there is none. */
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
const SURELY_KEPT_MS = 23 * UNITS.h;

/**
 * Tags changes from the first write on, under a key that is not in the database: until the log has a leaf of a change,
 * nothing else shows that somebody has altered it.
 */
export class ChangeSeal {
  private readonly tags: Tags<ChangeDocument>;

  /** @param box absent: changes get no tag, and the log does not take them */
  constructor(box: SecretBox | undefined) {
    this.tags = new Tags(box, 'change', changes, contentOf);
  }

  tag(document: ChangeDocument): string | undefined {
    return this.tags.hasKey ? this.tags.tag(document) : undefined;
  }

  /** Difference of a change from what was written; `undefined` if there is none. */
  whatIsWrong(document: ChangeDocument): string | undefined {
    return this.tags.whatIsWrong(document);
  }

  /** A change, for its readers. @throws RecordAlteredError if it was altered */
  unaltered(stored: ChangeDocument): Change {
    const { document, altered } = this.read(stored);
    if (altered) throw altered;
    return toChange(document);
  }

  /** A change as it is declared, and the error if it was altered; of no tag, if there is no key to check it. */
  read(stored: ChangeDocument): { document: ChangeDocument; altered?: RecordAlteredError } {
    const { document, wrong } = this.tags.read(stored);
    if (wrong === undefined || !this.tags.hasKey) return { document };
    return { document, altered: new RecordAlteredError(document._id, wrong) };
  }

  /** Tags again what an older key than the newest tagged. Altered changes stay as they are. @returns how many */
  retagAll(model: Model<ChangeDocument>): Promise<number> {
    return this.tags.retagEach(model);
  }

  /** A change as the log may take it. */
  loggable(stored: ChangeDocument): LoggableChange {
    const { document, wrong } = this.tags.read(stored);
    const { leaf_index, in_log, before_at } = document;
    // States that somebody has written may be nothing that a record can be made of.
    const sure = wrong === undefined ? document : { ...document, before: null, after: null, salt: null };
    const isKept = before_at && before_at.getTime() > sharedNow() - SURELY_KEPT_MS;
    return {
      accountId: document.account_id,
      ...toSalted(sure),
      wrong,
      isPending: document.outcome === 'pending',
      leafIndex: in_log === true ? (leaf_index ?? NO_LEAF) : undefined,
      follows: isKept ? before_at : undefined,
    };
  }
}

/** Text that the tag is of: the record, and since when its resource was as it was before. */
function contentOf(document: ChangeDocument): string {
  const record = canonicalJson(changeRecord(document.account_id, toSalted(document)));
  return textOf([record, document.before_at]);
}
