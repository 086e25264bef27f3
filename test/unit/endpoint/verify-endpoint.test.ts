import assert from 'node:assert/strict';
import type { PendingEndpoints, VerificationPorts } from '../../../activities/endpoint/verify-endpoint.js';
import { createVerificationActivities } from '../../../activities/endpoint/verify-endpoint.js';

const KEY = { account_id: 'acct', endpoint_id: 'ep' };
const SUBJECT = { target_url: 'https://example.com/', verification_revision: 1 };

describe('a confirmation that is taken in again after a crash', () => {
  it('releases what is parked, though the endpoint is verified already', async () => {
    let status = 'pending';
    let releases = 0;
    const pending = {
      loadPending: async () => (status === 'pending' ? KEY : undefined),
      async verified() {
        if (status !== 'pending') return false;
        status = 'active';
        return true;
      },
      async release() {
        releases += 1;
        if (releases === 1) throw new Error('Temporal cannot be reached');
      },
    } as unknown as PendingEndpoints;
    const { confirmEndpoint } = createVerificationActivities({ pending } as unknown as VerificationPorts);
    await assert.rejects(confirmEndpoint(KEY, undefined, SUBJECT), /Temporal cannot be reached/);
    assert.deepEqual(await confirmEndpoint(KEY, undefined, SUBJECT), { state: 'settled' });
    assert.equal(releases, 2);
  });
});
