import { SealError, type SecretBox } from '../../domain/access/secret-box.js';
import { canonicalJson, changeRecord } from '../../domain/archive/record.js';
import { type ChangeDocument, toSalted } from './change-document.js';

/** What the tags of changes are of. */
const PURPOSE = 'change';

/**
 * Tags changes from the first write on, under a key that is not in the database: until the log has a leaf of a change, nothing else shows that somebody
 * has altered it.
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
      if (error instanceof SealError) return error.message;
      throw error;
    }
  }
}

function recordOf(document: ChangeDocument): string {
  return canonicalJson(changeRecord(document.account_id, toSalted(document)));
}
