import { randomBytes } from 'node:crypto';
import { collection, must, repositoryOf } from '../mongo/collection.js';
import { wasMade } from '../mongo/duplicate-key.js';
import { BY_MAJORITY } from '../mongo/durability.js';

const secrets = collection('installation_secrets', { _id: must(String), value: must(String) }, BY_MAJORITY);

/** Secrets that all processes of an installation share and no person needs to know. */
export class InstallationSecretRepository extends repositoryOf(secrets) {
  /** The secret of that name: 256 random bits, made at the first request for it. */
  async get(name: string): Promise<string> {
    const known = await this.model.findById(name).lean();
    if (known) return known.value;
    const value = randomBytes(32).toString('base64url');
    return (await wasMade(this.model.create({ _id: name, value }))) ? value : this.get(name);
  }
}
