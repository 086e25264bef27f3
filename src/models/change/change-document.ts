import type {
  Actor,
  Change,
  ChangeAction,
  ChangeCause,
  ChangeOutcome,
  ShownResource,
} from '../../domain/change/change.js';
import type { SaltedChange } from '../../domain/records/record.js';
import { collection, type DocumentOf, may, must, schemaOf, withoutNulls } from '../mongo/collection.js';

/** A change as it is stored. States are JSON texts, because names in them may be any. */
const fields = {
  _id: must(String),
  account_id: must(String),
  resource: must(String),
  version: may(Number),
  action: must<ChangeAction>(String),
  /** `pending`: nobody has said yet, and nobody has looked. Absent: done. */
  outcome: may<ChangeOutcome | 'pending'>(String),
  at: must(Date),
  /** Time of the version before; absent for the first. */
  before_at: may(Date),
  actor: must(String),
  actor_type: must<Actor['type']>(String),
  person: may(String),
  actor_account: may(String),
  address: may(String),
  request_id: may(String),
  reason: may(String),
  replay: may(String),
  caused_by: may<ChangeCause>({ delivery_id: String, attempt: Number }, { _id: false }),
  changed: must<string[]>([String]),
  before: may(String),
  after: may(String),
  expires_at: must(Date),
  /** Salt of the commitment in its record, base64. */
  salt: may(String),
  /**
   * Tag of its record and of the time before (`SecretBox.tag`), so that a change is not altered unseen before the log
   * has it.
   * Absent if no key was at hand.
   */
  tag: may(String),
  /** Whether the log has its record. */
  in_log: may(Boolean),
  /** Number of its record in the log. */
  leaf_index: may(Number),
};
export type ChangeDocument = DocumentOf<typeof fields>;

/**
 * Changes inside the resource's own document, until they have been moved. Without indexes: one would delete the
 * resource.
 */
const unrecordedSchema = schemaOf(fields);

export const changes = collection('changes', fields, {
  indexes: [
    { account_id: 1, _id: 1 },
    { account_id: 1, resource: 1, _id: 1 },
    { account_id: 1, resource: 1, at: 1 },
    { in_log: 1 },
    // For those that are pending, which are few: what is done with the change itself has none.
    [{ outcome: 1 }, { sparse: true }],
    [{ expires_at: 1 }, { expireAfterSeconds: 0 }],
  ],
});

/**
 * Fields that the document of a resource has, so that its changes can be recorded. Only `Recorded` writes these fields.
 */
export const recordedFields = {
  /** 1 when it is made, and one more with each change. */
  version: must(Number),
  /** When it got this version. Later than the version before, whatever the clocks of the processes say. */
  changed_at: must(Date),
  /** It is gone; the document stays until that has been recorded. */
  deleted_at: may(Date),
  /** Changes that are not in the collection of changes yet, and since when there are any. */
  unrecorded: may<ChangeDocument[]>([unrecordedSchema]),
  unrecorded_since: may(Date, { index: { sparse: true } }),
};
export type RecordedFields = DocumentOf<typeof recordedFields>;

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
    ...withoutNulls({ version }),
    action: document.action,
    outcome: outcome === 'pending' ? 'unknown' : (outcome ?? 'done'),
    at: document.at.toISOString(),
    actor: {
      type: document.actor_type,
      id: document.actor,
      ...withoutNulls({ person, account_id: actor_account }),
    },
    ...withoutNulls({ address, request_id, reason, replay, caused_by }),
    changed: document.changed,
    ...withoutNulls({ before: resourceIn(before), after: resourceIn(after) }),
  };
}

/** Somebody has altered what is not JSON: it is left out, so that the tag is of something else. */
function resourceIn(text: string | null | undefined): ShownResource | undefined {
  try {
    return text ? (JSON.parse(text) as ShownResource) : undefined;
  } catch {
    return undefined;
  }
}
