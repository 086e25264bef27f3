import { type ChangeDocument, unrecordedSchema } from './change-document.js';

/** What the document of a resource has, so that its changes can be recorded. Only `Recorded` writes these fields. */
export interface RecordedFields {
  /** 1 when it is made, and one more with each change. */
  version: number;
  /** When it got this version. Later than the version before, whatever the clocks of the processes say. */
  changed_at: Date;
  /** It is gone; the document stays until that has been recorded. */
  deleted_at?: Date | null;
  /** Changes that are not in the collection of changes yet, and since when there are any. */
  unrecorded?: ChangeDocument[] | null;
  unrecorded_since?: Date | null;
}

/** These fields in a mongoose schema. */
export const recordedFields = {
  version: { type: Number, required: true },
  changed_at: { type: Date, required: true },
  deleted_at: Date,
  unrecorded: { type: [unrecordedSchema], default: undefined },
  unrecorded_since: { type: Date, index: { sparse: true } },
};
