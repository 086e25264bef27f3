import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { registerDirectly } from '../../../bench/support/endpoints.js';
import { newSecretKey, parseSecretKeys, SecretBox } from '../../../src/domain/access/secret-box.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { OPERATOR } from '../../../src/domain/change/change.js';
import { newSigningSecret } from '../../../src/domain/delivery/signature.js';
import { connectDatabase } from '../../../src/models/database.js';
import type { EndpointInput } from '../../../src/models/endpoint/endpoint-document.js';
import { apiClient, PURCHASE } from '../../support/api-client.js';
import { secretOptions } from '../../support/parts/secret-options.js';
import { runHere } from '../../support/programs/command.js';
import { startReceiver, testCertificate } from '../../support/receiver.js';
import { newAccount, startSystem, testEnvironment } from '../../support/system.js';

const input: EndpointInput = {
  target_url: 'https://subscriber.example/',
  event_kinds: ['purchase'],
  description: '',
  metadata: {},
  headers: { authorization: 'Bearer of-the-subscriber' },
  verify_token: 'for-the-verification',
  status: 'active',
  status_when_verified: 'active',
  verification_method: 'challenge',
};

describe('hookline reseal', () => {
  it('seals every secret with the first key, so that the others can be dropped', async () => {
    const environment = await testEnvironment();
    const uri = environment['MONGODB_URI'] ?? '';
    const old = environment['HOOKLINE_SECRET_KEYS'] ?? '';
    const fresh = newSecretKey();
    const accountId = newId('account');
    const open = (keys: string) => connectDatabase(uri, { box: new SecretBox(parseSecretKeys(keys)) });

    const before = await open(old);
    await before.endpoints.create(accountId, input, OPERATOR, newSigningSecret('v1a'));
    const { id } = await before.endpoints.create(accountId, { ...input, headers: {} }, OPERATOR);
    await before.endpoints.beginVerification(accountId, id, 'a-token');
    const { withBearer, withOAuth, texts } = await secretOptions('https://login.example/token');
    for (const options of [withBearer, withOAuth])
      await registerDirectly(before.endpoints, accountId, [input.target_url], options);
    const keyed = () => [{ name: 'order_id', value: '1001' }];
    const tokens = await before.keySecrets.tokensOf(accountId, keyed());
    const stored = (await before.endpoints.all(accountId)).map((one) => before.endpoints.secretsOf(one));
    await before.close();

    const rotated = { ...environment, HOOKLINE_SECRET_KEYS: `${fresh},${old}` };
    assert.match(
      await runHere('reseal', rotated),
      /^Endpoints .* again: 4\n(.*\n)*Accounts .* again: 1\nChanges .* again: 4\n/m,
    );
    assert.match(
      await runHere('reseal', rotated),
      /^Endpoints .* again: 0\n(.*\n)*Accounts .* again: 0\nChanges .* again: 0\n/m,
    );

    const after = await open(fresh);
    assert.deepEqual(await after.keySecrets.tokensOf(accountId, keyed()), tokens);
    assert.equal((await after.changes.list(accountId, {}, 10)).length, 4);
    const resealed = (await after.endpoints.all(accountId)).map((one) => after.endpoints.secretsOf(one));
    assert.deepEqual(resealed, stored);
    assert.deepEqual(
      resealed.slice(0, 2).map(({ headers, verification_token }) => [headers, verification_token]),
      [
        [input.headers, undefined],
        [{}, 'a-token'],
      ],
    );
    const { token, client_secret, secret } = texts;
    assert.deepEqual(
      resealed.slice(2).map(({ options }) => options),
      [
        {
          '/authentication/token': token,
          '/client_certificate/private_key': withBearer.client_certificate?.private_key,
        },
        { '/authentication/client_secret': client_secret, '/legacy_signature/secret': secret },
      ],
    );
    await after.close();
  });

  it('keeps the token of a verification that begins meanwhile, and seals the rest', async () => {
    const { MONGODB_URI: uri = '', HOOKLINE_SECRET_KEYS: old = '' } = await testEnvironment();
    const fresh = newSecretKey();
    const accountId = newId('account');
    const box = new SecretBox(parseSecretKeys(`${fresh},${old}`));
    const before = await connectDatabase(uri, { box: new SecretBox(parseSecretKeys(old)) });
    const during = await connectDatabase(uri, { box });
    const after = await connectDatabase(uri, { box: new SecretBox(parseSecretKeys(fresh)) });
    const { id } = await before.endpoints.create(accountId, input, OPERATOR);
    await before.endpoints.beginVerification(accountId, id, 'earlier');

    let begun: Promise<void> | undefined;
    const isOutdated = box.isOutdated.bind(box);
    box.isOutdated = (text) => {
      begun ??= during.endpoints.beginVerification(accountId, id, 'later');
      return isOutdated(text);
    };
    assert.equal(await during.endpoints.resealAll(), 1);
    await begun;

    const endpoint = await after.endpoints.getFresh(accountId, id);
    assert.ok(endpoint);
    const { headers, verification_token } = after.endpoints.secretsOf(endpoint);
    assert.deepEqual([headers, verification_token], [input.headers, 'later']);
    await Promise.all([before, during, after].map((database) => database.close()));
  });

  it('leaves deliveries as they were, once the old key is gone [world]', async () => {
    const environment = await testEnvironment();
    const { MONGODB_URI: uri = '', HOOKLINE_SECRET_KEYS: old = '' } = environment;
    const fresh = newSecretKey();
    const shown = new Map<string, string>();
    const receiver = await startReceiver({
      certificate: { ...(await testCertificate()), ...{ requestCert: true, rejectUnauthorized: false } },
      handler(request, response) {
        const { subjectaltname } = (request.socket as TLSSocket).getPeerCertificate();
        shown.set(request.url ?? '', subjectaltname ?? 'nobody');
        response.setHeader('content-type', 'application/json');
        response.end('{"access_token":"token-1","token_type":"Bearer","expires_in":3600}');
      },
    });
    const { withBearer, withOAuth, texts } = await secretOptions(`${receiver.url}/token`);
    const before = await connectDatabase(uri, { box: new SecretBox(parseSecretKeys(old)) });
    const account = await newAccount(before, '');
    await registerDirectly(before.endpoints, account.accountId, [`${receiver.url}/bearer`], withBearer);
    await registerDirectly(before.endpoints, account.accountId, [`${receiver.url}/oauth`], withOAuth);
    await before.close();
    await runHere('reseal', { ...environment, HOOKLINE_SECRET_KEYS: `${fresh},${old}` });

    const system = await startSystem({ ...environment, HOOKLINE_SECRET_KEYS: fresh });
    const { deliveries } = await apiClient(system.url, account).purchase();
    assert.equal(deliveries.length, 2);
    const paths = ['/bearer', '/oauth', '/token'];
    const all = await receiver.waitFor((some) => some.filter(({ over }) => over).length === paths.length);
    const [bearer, oauth, token] = paths.map((path) => all.find((one) => one.path === path)?.headers ?? {});
    assert.equal(bearer?.['authorization'], `Bearer ${texts.token}`);
    assert.equal(shown.get('/bearer'), 'DNS:of-the-endpoint');
    const basic = atob(token?.['authorization']?.replace('Basic ', '') ?? '');
    assert.equal(decodeURIComponent(basic), `hookline:${texts.client_secret}`);
    assert.equal(oauth?.['authorization'], 'Bearer token-1');
    const signature = createHmac('sha256', texts.secret).update(PURCHASE).digest('hex');
    assert.equal(oauth?.['x-signature'], signature);
    await system.stop();
    await receiver.close();
  });
});
