import { dropOldest } from '../../../domain/basics/bounded-memory.js';
import { type DeliveryKey, deliveryId } from '../../../domain/basics/delivery-id.js';

/**
 * Remembers which groups this process has started lately. Visibility lists a group a moment after its start; a client
 * may ask for a delivery before that.
 */
export class RecentGroups {
  private readonly groups = new Map<string, string>();

  add(groupWorkflowId: string, members: readonly DeliveryKey[]): void {
    for (const member of members) this.groups.set(deliveryId(member), groupWorkflowId);
    // The latest stay: more than visibility can be behind.
    dropOldest(this.groups, 20_000);
  }

  /** The group of a delivery, if it is remembered. */
  find(key: DeliveryKey): string | undefined {
    return this.groups.get(deliveryId(key));
  }

  /** The groups of an event's deliveries. */
  findOfEvent(event_id: string): string[] {
    const prefix = deliveryId({ event_id, endpoint_id: '' });
    const found = [...this.groups].filter(([member]) => member.startsWith(prefix)).map(([, group]) => group);
    return [...new Set(found)];
  }
}
