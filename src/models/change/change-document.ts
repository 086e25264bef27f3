import { Schema } from 'mongoose';
import type { SaltedChange } from '../../domain/archive/record.js';
import type {
  Actor,
  Cause,
  Change,
  ChangeAction,
  ChangeOutcome,
  ShownResource,
} from '../../domain/change/change.js';

/** A change as it is stored. States are JSON texts, because names in them may be any. */
export interface ChangeDocument {
  _id: string;
  account_id: string;
  resource: string;
  version?: number | null;
  action: ChangeAction;
  /** `pending`: nobody has said yet, and nobody has looked. Absent: done. */
  outcome?: ChangeOutcome | 'pending' | null;
  at: Date;
  /** Time of the version before; absent for the first. */
  before_at?: Date | null;
  actor: string;
  actor_type: Actor['type'];
  person?: string | null;
  actor_account?: string | null;
  address?: string | null;
  request_id?: string | null;
  reason?: string | null;
  replay?: string | null;
  caused_by?: Cause | null;
  changed: string[];
  before?: string | null;
  after?: string | null;
  expires_at: Date;
  /** Of the commitment in its record, base64. */
  salt?: string | null;
  /** Of its record (`SecretBox.tag`), so that what the log does not have yet is not altered unseen. Absent if no key was at hand. */
  tag?: string | null;
  /** Whether the log has its record. */
  in_log?: boolean | null;
  /** Number of its record in the log. */
  leaf_index?: number | null;
}

const required = true;
const fields = {
  _id: String,
  account_id: { type: String, required },
  resource: { type: String, required },
  version: Number,
  action: { type: String, required },
  outcome: String,
  at: { type: Date, required },
  before_at: Date,
  actor: { type: String, required },
  actor_type: { type: String, required },
  person: String,
  actor_account: String,
  address: String,
  request_id: String,
  reason: String,
  replay: String,
  caused_by: { type: { delivery_id: String, attempt: Number }, default: undefined, _id: false },
  changed: { type: [String], required },
  before: String,
  after: String,
  expires_at: { type: Date, required },
  salt: String,
  tag: String,
  in_log: Boolean,
  leaf_index: Number,
};

/** Changes inside the resource's own document, until they have been moved. Without indexes: one would delete the resource. */
export const unrecordedSchema = new Schema<ChangeDocument>(fields, { versionKey: false });

export const changeSchema = new Schema<ChangeDocument>(fields, { versionKey: false });
changeSchema.index({ account_id: 1, _id: 1 });
changeSchema.index({ account_id: 1, resource: 1, _id: 1 });
changeSchema.index({ account_id: 1, resource: 1, at: 1 });
changeSchema.index({ in_log: 1 });
// For those that are pending, which are few: what is done with the change itself has none.
changeSchema.index({ outcome: 1 }, { sparse: true });
changeSchema.index({ expires_at: 1 }, { expireAfterSeconds: 0 });

/** A change with what makes its record. */
export function toSalted(document: ChangeDocument): SaltedChange {
  const { salt } = document;
  return { change: toChange(document), salt: salt ? Buffer.from(salt, 'base64') : undefined };
}

export function toChange(document: ChangeDocument): Change {
  const { version, person, actor_account, address, request_id, reason, replay, caused_by } = document;
  const { before, after, outcome } = document;
  return {
    id: document._id,
    resource: document.resource,
    ...(version && { version }),
    action: document.action,
    outcome: outcome === 'pending' ? 'unknown' : (outcome ?? 'done'),
    at: document.at.toISOString(),
    actor: {
      type: document.actor_type,
      id: document.actor,
      ...(person && { person }),
      ...(actor_account && { account_id: actor_account }),
    },
    ...(address && { address }),
    ...(request_id && { request_id }),
    ...(reason && { reason }),
    ...(replay && { replay }),
    ...(caused_by && { caused_by }),
    changed: document.changed,
    ...(before && { before: JSON.parse(before) as ShownResource }),
    ...(after && { after: JSON.parse(after) as ShownResource }),
  };
}
