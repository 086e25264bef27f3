import { Schema } from 'mongoose';
import { ulid } from 'ulid';
import { INBOX_MS, MAX_RECEIVED, type ReceivedRequest } from '../../domain/listener/inbox.js';
import type { SentForm } from '../../domain/sending/sent-form.js';
import { sharedDate, sharedNow } from '../../domain/time/shared-time.js';
import { collection, may, must, repositoryOf } from '../mongo/collection.js';

const received = collection(
  'inbox_requests',
  {
    /** Sorts by time. */
    _id: must(String),
    account_id: must(String),
    endpoint_id: must(String),
    event_id: must(String),
    received_at: must(Date, { expires: INBOX_MS / 1_000 }),
    /** JSON: MongoDB restricts names of fields. */
    headers: must(String),
    form: may<SentForm>(Schema.Types.Mixed),
    body_bytes: must(Number),
    signature_error: may(String),
  },
  { indexes: [{ account_id: 1, _id: 1 }] },
);

/** Requests that test inboxes have received: of each account the latest, for an hour. */
export class InboxRepository extends repositoryOf(received) {
  /** Keeps a request; of the account's others the latest stay. */
  async keep(accountId: string, request: Omit<ReceivedRequest, 'id' | 'received_at'>): Promise<void> {
    await this.model.create({
      ...request,
      _id: ulid(sharedNow()),
      account_id: accountId,
      received_at: sharedDate(),
      headers: JSON.stringify(request.headers),
    });
    const [first] = await this.model
      .find({ account_id: accountId }, { _id: 1 })
      .sort({ account_id: -1, _id: -1 })
      .skip(MAX_RECEIVED)
      .limit(1)
      .lean();
    if (first) await this.model.deleteMany({ account_id: accountId, _id: { $lte: first._id } });
  }

  /** Requests that one inbox has received, the latest first, after the one named. */
  async list(
    accountId: string,
    endpointId: string,
    limit: number,
    after?: string,
  ): Promise<ReceivedRequest[]> {
    const found = await this.model
      .find({
        account_id: accountId,
        endpoint_id: endpointId,
        ...(after !== undefined && { _id: { $lt: after } }),
      })
      .sort({ account_id: -1, _id: -1 })
      .limit(limit)
      .lean();
    return found.map(({ _id, event_id, received_at, headers, form, body_bytes, signature_error }) => ({
      id: _id,
      endpoint_id: endpointId,
      event_id,
      received_at: received_at.toISOString(),
      headers: JSON.parse(headers) as Record<string, string>,
      body_bytes,
      ...(form && { form }),
      ...(signature_error && { signature_error }),
    }));
  }

  /** Forgets what an inbox has received. */
  async remove(accountId: string, endpointId: string): Promise<void> {
    await this.model.deleteMany({ account_id: accountId, endpoint_id: endpointId });
  }
}
