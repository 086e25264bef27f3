import type { ArchivedDelivery } from '../../domain/archive/archived.js';
import { RecordAlteredError, requireIntact, saltPurposes } from '../../domain/archive/commitments.js';
import { SealedTextError } from '../../domain/privacy/data-key.js';
import type { PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import { type DeliveryDocument, toListed } from './archive-documents.js';

/**
 * A delivery as it is stored, whole and opened as far as its key exists.
 *
 * @param key a text that names the key of its event; absent if nothing does any more
 * @throws RecordAlteredError if it is not what was archived
 */
export async function openDelivery(
  sealer: PayloadSealer,
  { record, detail, timeline, ...listed }: DeliveryDocument,
  key: string | undefined,
): Promise<ArchivedDelivery> {
  const { _id: id, account_id: accountId, event_id: eventId, revision } = listed;
  const context = { accountId, eventId };
  const open = async (sealed: string | null | undefined) =>
    sealed ? sealer.open(context, sealed) : undefined;
  try {
    const opened = { record, detail: await open(detail), timeline: await open(timeline) };
    const archived = { ...toListed(listed), ...opened };
    const salt = key && (await sealer.salt(context, key, saltPurposes({ id, revision }).view));
    requireIntact(archived, salt || undefined);
    return archived;
  } catch (error) {
    if (error instanceof SealedTextError) throw new RecordAlteredError(id, error.message);
    throw error;
  }
}
