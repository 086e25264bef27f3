import { changedPointers, type ShownResource } from '../../domain/change/change.js';
import type { ChangeAudit, CurrentResource, CurrentVersion } from '../../models/change/change-audit.js';
import { isTime } from '../../models/mongo/declared.js';
import type { Difference } from './difference.js';
import { Held } from './held.js';

/**
 * Looks for the change of each version that a resource has or had: one that was removed before the log had it leaves no
 * leaf, but a gap. And compares each resource with the last of its changes. Two passes over all changes; what is held
 * is 40 bytes for each.
 *
 * @param period of which versions there must be a change: of older ones it may be past the time that changes are kept,
 * younger ones may still be written
 */
export async function* compareVersions(
  audit: Pick<ChangeAudit, 'steps' | 'resources' | 'stateOf'>,
  { from, to }: { from: Date; to: Date },
): AsyncIterable<Difference> {
  const made = new Held();
  for await (const step of audit.steps()) made.add(nameOf(step));
  const isMissing = (version: CurrentVersion) =>
    version.at >= from && version.at < to && !made.has(nameOf(version));

  for await (const { id, accountId, resource, beforeAt } of audit.steps())
    if (beforeAt && isMissing({ accountId, resource, at: beforeAt }))
      yield {
        id,
        what: `follows the version of ${resource} of ${beforeAt.toISOString()}, of which there is no change`,
      };
  for await (const version of audit.resources()) {
    const { resource: id, at } = version;
    if (!isTime(at)) yield { id, what: 'has a version without a time: it is not what was written' };
    else if (isMissing(version))
      yield { id, what: `has a version of ${at.toISOString()}, of which there is no change` };
    else {
      const pointers = await differingIn(audit, version);
      if (pointers.length > 0)
        yield { id, what: `differs in ${pointers.join(', ')} from what its last change made of it` };
    }
  }
}

/** Fields that differ from the last change. Secrets and unversioned fields are not compared. */
async function differingIn(audit: Pick<ChangeAudit, 'stateOf'>, version: CurrentResource): Promise<string[]> {
  const recorded = await audit.stateOf(version);
  if (!recorded) return [];
  try {
    const shown = JSON.parse(JSON.stringify(version.show())) as ShownResource;
    return changedPointers(recorded as ShownResource, shown);
  } catch {
    // An altered version may contain anything.
    return ['everything'];
  }
}

function nameOf({ accountId, resource, at }: CurrentVersion): string {
  return `${accountId} ${resource} ${at.getTime()}`;
}
