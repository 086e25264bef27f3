import type { Model } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { Tags, textOf } from '../mongo/tags.js';
import { type DeliveryDocument, deliveries, type ListedDocument, UNLISTED } from './row-documents.js';

/** A row before it has its tag. */
type Untagged = Omit<ListedDocument, 'tag'>;

/**
 * Tags of rows: of whose each is, of all that lists are filtered and sorted by, of its record with revision and
 * segment, and of what lists show. Detail and timeline have the commitment in the record.
 */
export class RowTags extends Tags<ListedDocument> {
  constructor(box: SecretBox | undefined) {
    super(box, 'row', deliveries, contentOf);
  }

  tagged<R extends Untagged>(row: R): R & Pick<ListedDocument, 'tag'> {
    return { ...row, tag: this.tag(row) };
  }

  /** Tags again what an older key tagged. @returns how many */
  retagAll(model: Model<DeliveryDocument>): Promise<number> {
    return this.retagEach(model as unknown as Model<ListedDocument>, UNLISTED);
  }
}

function contentOf(row: Untagged): string {
  return textOf([
    row._id,
    row.account_id,
    row.event_id,
    row.endpoint_id,
    row.event_kind,
    row.status,
    row.accepted_at,
    row.keys,
    row.marks,
    row.error_code,
    row.status_code,
    row.results,
    row.longest_ms,
    row.position,
    row.run_id,
    row.turn,
    row.revision,
    row.record,
    row.summary,
    row.kept_at,
    row.expires_at,
    row.segment,
    row.sum,
  ]);
}
