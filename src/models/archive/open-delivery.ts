import type { ArchivedDelivery } from '../../domain/archive/archived.js';
import { requireIntact, saltPurposes } from '../../domain/archive/commitments.js';
import { isRecordAltered, RecordAlteredError } from '../../domain/archive/record-altered.js';
import { isSealedTextError } from '../../domain/privacy/data-key.js';
import type { PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import { type DeliveryDocument, toListed } from './archive-documents.js';

/** A delivery as it is stored, opened as far as its key exists. */
export interface OpenedDelivery {
  archived: ArchivedDelivery;
  /** Number of its record in the log, as the document says. */
  leafIndex: number;
  /** It is not what was archived; absent if it is. */
  altered?: RecordAlteredError;
}

/** @param key a text that names the key of its event; absent if nothing does any more */
export async function openDelivery(
  sealer: PayloadSealer,
  { detail, timeline, ...listed }: DeliveryDocument,
  key: string | undefined,
): Promise<Omit<OpenedDelivery, 'leafIndex'>> {
  const { _id: id, record, account_id: accountId, event_id: eventId, revision } = listed;
  const context = { accountId, eventId };
  let archived: ArchivedDelivery = { ...toListed(listed), record, detail: undefined, timeline: undefined };
  if (!isText(detail) || !isText(timeline))
    return { archived, altered: new RecordAlteredError(id, 'has a detail or timeline that is not a text') };
  try {
    const [openedDetail, openedTimeline, salt] = await Promise.all([
      detail ? sealer.open(context, detail) : undefined,
      timeline ? sealer.open(context, timeline) : undefined,
      key === undefined ? undefined : sealer.salt(context, key, saltPurposes({ id, revision }).view),
    ]);
    archived = { ...archived, detail: openedDetail, timeline: openedTimeline };
    requireIntact(archived, salt);
    return { archived };
  } catch (error) {
    if (isSealedTextError(error))
      return {
        archived,
        altered: new RecordAlteredError(id, 'has a text that does not open', { cause: error }),
      };
    if (isRecordAltered(error)) return { archived, altered: error };
    throw error;
  }
}

/** What MongoDB has may be anything. */
function isText(stored: unknown): boolean {
  return stored === undefined || stored === null || typeof stored === 'string';
}
