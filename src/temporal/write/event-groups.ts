import { MAX_EVENT_GROUP_SIZE, MAX_GROUP_SIZE } from '../../domain/delivery/delivery.js';
import { GRPC, hasCode } from '../errors.js';
import type { PendingDelivery } from './admission.js';

/**
 * Starts the deliveries of one event in groups, each in a workflow whose id names the event and the part: a repeat
 * starts nothing twice.
 *
 * A group names the endpoints in one search attribute. How long that may be is a setting of the Temporal server which
 * no call tells, so the groups are large until a server refuses one; from then on this process starts smaller ones,
 * which every server takes.
 */
export class EventGroups {
  private readonly startOne: (deliveries: readonly PendingDelivery[], id: string) => Promise<unknown>;
  private most = MAX_EVENT_GROUP_SIZE;

  /** @param startOne starts a group under an id, unless there is one */
  constructor(startOne: (deliveries: readonly PendingDelivery[], id: string) => Promise<unknown>) {
    this.startOne = startOne;
  }

  /** The most deliveries in a group, as far as is known. */
  get size(): number {
    return this.most;
  }

  /**
   * Starts deliveries of an event, all groups at once.
   *
   * @param offset where the first of them is among the event's targets
   */
  async start(deliveries: readonly PendingDelivery[], offset: number): Promise<void> {
    const { most } = this;
    const groups = Array.from({ length: Math.ceil(deliveries.length / most) }, (_, index) => index * most);
    await Promise.all(
      groups.map((first) => this.startGroup(deliveries.slice(first, first + most), offset + first)),
    );
  }

  private async startGroup(deliveries: readonly PendingDelivery[], offset: number): Promise<void> {
    try {
      await this.startOne(deliveries, groupId(deliveries, offset));
    } catch (error) {
      if (deliveries.length <= MAX_GROUP_SIZE || !hasCode(error, GRPC.invalidArgument)) throw error;
      this.most = MAX_GROUP_SIZE;
      await this.start(deliveries, offset);
    }
  }
}

/**
 * A large group also says how large it is: in its place there can be several of {@link MAX_GROUP_SIZE} that another
 * process has started.
 */
function groupId(deliveries: readonly PendingDelivery[], offset: number): string {
  const { length } = deliveries;
  const part = length > MAX_GROUP_SIZE ? `${offset}+${length}` : `${offset}`;
  return `${deliveries[0]?.event.event_id}:${part}`;
}
