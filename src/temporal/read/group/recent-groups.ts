import { dropOldest } from '../../../domain/basics/drop-oldest.js';

/** Deliveries that are remembered, the latest ones: more than visibility can be behind. */
const MAX_REMEMBERED = 20_000;

/**
 * Remembers which groups this process has started lately. Visibility lists a group a moment after its start; a client may ask for a
 * delivery before that.
 */
export class RecentGroups {
  private readonly groups = new Map<string, string>();

  /** @param members workflow ids of its deliveries */
  add(groupWorkflowId: string, members: readonly string[]): void {
    for (const member of members) this.groups.set(member, groupWorkflowId);
    dropOldest(this.groups, MAX_REMEMBERED);
  }

  /** The group of a delivery, if it is remembered. */
  find(member: string): string | undefined {
    return this.groups.get(member);
  }

  /** The groups of members whose workflow ids begin like this: those of one event. */
  findByPrefix(prefix: string): string[] {
    const found = [...this.groups].filter(([member]) => member.startsWith(prefix)).map(([, group]) => group);
    return [...new Set(found)];
  }
}
