import type { LogWrites } from '../../../../activities/ports.js';
import { canonicalJson, changeRecord } from '../../../domain/archive/record.js';
import type { Database } from '../../../models/database.js';
import type { LogSigners } from './signers.js';

/** Changes that are appended at once. */
const CHANGES_AT_ONCE = 500;

/** Completes the log: archived deliveries are appended as they are archived, and changes here. */
export function createLogWriter({ changes, log }: Database, signers: LogSigners): LogWrites {
  return {
    async appendChanges(before) {
      const found = await changes.unlogged(before, CHANGES_AT_ONCE);
      const numbers = await log.append(
        found.map(({ accountId, change }) => canonicalJson(changeRecord(accountId, change))),
      );
      await changes.logged(new Map(found.map(({ change }, at) => [change.id, numbers[at] ?? -1])));
      return found.length;
    },
    publish: async () => log.publish(await signers()),
  };
}
