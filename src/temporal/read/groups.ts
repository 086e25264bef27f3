import { dropOldest } from '../../domain/basics/drop-oldest.js';

/** So many of the latest deliveries are remembered: more than visibility can be behind. */
const MAX_REMEMBERED = 20_000;

/**
 * Remembers which groups this process has started lately. Visibility knows a group a moment after it was started; somebody may ask for a
 * delivery sooner.
 */
export class RecentGroups {
  private readonly groups = new Map<string, string>();

  /** @param members workflow ids of its deliveries */
  add(groupWorkflowId: string, members: readonly string[]): void {
    for (const member of members) this.groups.set(member, groupWorkflowId);
    dropOldest(this.groups, MAX_REMEMBERED);
  }

  /** The group of a delivery, where it is remembered. */
  find(member: string): string | undefined {
    return this.groups.get(member);
  }

  /** Groups of an event's deliveries. */
  findByPrefix(prefix: string): string[] {
    const found = [...this.groups].filter(([member]) => member.startsWith(prefix)).map(([, group]) => group);
    return [...new Set(found)];
  }
}
