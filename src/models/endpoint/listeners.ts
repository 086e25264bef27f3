import { LEASE_MS } from '../../domain/listener/listener.js';
import { sharedDate, sharedNow } from '../../domain/time/shared-time.js';
import { collection, may, must, repositoryOf } from '../mongo/collection.js';
import { inOrder } from '../mongo/in-order.js';

const listeners = collection('listeners', {
  /** The endpoint. */
  _id: must(String),
  account_id: must(String),
  /** The process that holds its stream, as other processes reach it. */
  node_url: may(String),
  /** The stream. */
  session: may(String),
  /** Until then that process is believed to hold it. */
  connected_until: may(Date),
  /** When it was last connected, or made. */
  seen_at: must(Date),
});

/** Which process holds the stream of which listener. There are few listeners, so there is no index. */
export class ListenerRepository extends repositoryOf(listeners) {
  async create(accountId: string, endpointId: string, seenAt = sharedDate()): Promise<void> {
    await this.model.create({ _id: endpointId, account_id: accountId, seen_at: seenAt });
  }

  /** Says that this process holds its stream; its former holder loses it. */
  async claim(accountId: string, endpointId: string, session: string, nodeUrl: string): Promise<void> {
    const lease = { node_url: nodeUrl, session, ...now() };
    await this.model.updateOne(
      { _id: endpointId },
      { $set: lease, $setOnInsert: { account_id: accountId } },
      { upsert: true },
    );
  }

  /** @returns whether the session still holds it */
  async renew(endpointId: string, session: string): Promise<boolean> {
    const { matchedCount } = await this.model.updateOne({ _id: endpointId, session }, { $set: now() });
    return matchedCount > 0;
  }

  /** The stream has ended. */
  async leave(endpointId: string, session: string): Promise<void> {
    await this.model.updateOne(
      { _id: endpointId, session },
      { $set: { seen_at: sharedDate() }, $unset: { node_url: 1, session: 1, connected_until: 1 } },
    );
  }

  /** The process that holds its stream; `undefined` if none does. */
  async holder(endpointId: string): Promise<string | undefined> {
    const found = await this.model.findById(endpointId).lean();
    const isHeld = found?.connected_until && found.connected_until > sharedDate();
    return isHeld ? (found.node_url ?? undefined) : undefined;
  }

  /** Those that have not been connected since a time. */
  async *unseenSince(time: Date): AsyncIterable<{ account_id: string; endpoint_id: string }> {
    for await (const some of inOrder((_id) => this.model.find({ _id, seen_at: { $lt: time } })))
      yield* some.map(({ _id, account_id }) => ({ account_id, endpoint_id: _id }));
  }

  /** Forgets a listener that was deleted. */
  async remove(endpointId: string): Promise<void> {
    await this.model.deleteOne({ _id: endpointId });
  }
}

function now() {
  const at = sharedNow();
  return { seen_at: new Date(at), connected_until: new Date(at + LEASE_MS) };
}
