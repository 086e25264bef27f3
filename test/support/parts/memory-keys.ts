import { type DataKey, newDataKey } from '../../../src/domain/privacy/data-key.js';
import type { DataKeys } from '../../../src/domain/privacy/payload-sealer.js';

/** Keys in memory, which a test can erase. */
export class MemoryKeys implements DataKeys {
  readonly keys = new Map<string, DataKey>();

  async obtain(accountId: string, subject = ''): Promise<DataKey> {
    const name = `${accountId}:${subject}`;
    const key = this.keys.get(name) ?? newDataKey();
    this.keys.set(name, key);
    return key;
  }

  async find(accountId: string, keyId: string): Promise<DataKey | undefined> {
    const found = [...this.keys].find(([name, { id }]) => name.startsWith(`${accountId}:`) && id === keyId);
    return found?.[1];
  }
}
