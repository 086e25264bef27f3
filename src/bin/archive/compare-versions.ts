import type { ChangeAudit, CurrentVersion } from '../../models/change/change-audit.js';
import type { Difference } from './difference.js';
import { Held } from './held.js';

/**
 * Looks for the change of each version that a resource has or had: one that was removed before the log had it leaves no
 * leaf, but a gap. Two passes over all changes; what is held is 40 bytes for each.
 *
 * @param period of which versions there must be a change: of older ones it may be past the time that changes are kept,
 * younger ones may still be written
 */
export async function* compareVersions(
  audit: Pick<ChangeAudit, 'steps' | 'resources'>,
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
  for await (const version of audit.resources())
    if (isMissing(version))
      yield {
        id: version.resource,
        what: `has a version of ${version.at.toISOString()}, of which there is no change`,
      };
}

function nameOf({ accountId, resource, at }: CurrentVersion): string {
  return `${accountId} ${resource} ${at.getTime()}`;
}
