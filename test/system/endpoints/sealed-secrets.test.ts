import assert from 'node:assert/strict';
import mongoose from 'mongoose';
import { registerDirectly } from '../../../bench/support/endpoints.js';
import { renderEndpoint } from '../../../src/api/routes/endpoints/endpoint-view.js';
import {
  newSecretKey,
  parseSecretKeys,
  SealError,
  SecretBox,
} from '../../../src/domain/access/secret-box.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { OPERATOR } from '../../../src/domain/change/change.js';
import { recipientsOf } from '../../../src/domain/delivery/recipients.js';
import { splitOptions, unmaskOptions } from '../../../src/domain/sending/delivery-options.js';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { secretOptions } from '../../support/parts/secret-options.js';
import { testEnvironment } from '../../support/system.js';

const ENDPOINTS = 50;

class CountingBox extends SecretBox {
  opened = 0;

  override open(sealed: string, context: string): string {
    this.opened += 1;
    return super.open(sealed, context);
  }
}

describe('encrypted secrets of endpoints', () => {
  const accountId = newId('account');
  let uri: string;
  let box: CountingBox;
  let database: Database;

  before(async () => {
    const environment = await testEnvironment();
    uri = environment['MONGODB_URI'] ?? '';
    box = new CountingBox(parseSecretKeys(environment['HOOKLINE_SECRET_KEYS'] ?? ''));
    database = await connectDatabase(uri, { box });
    const urls = Array.from({ length: ENDPOINTS }, (_, index) => `https://subscriber.example/${index}`);
    const headers = { authorization: 'Bearer of-the-subscriber' };
    await registerDirectly(database.endpoints, accountId, urls, { headers });
  });
  after(() => database.close());

  it('are not decrypted when endpoints are listed, shown or chosen for an event', async () => {
    const all = await database.endpoints.all(accountId);
    assert.equal(all.length, ENDPOINTS);
    assert.equal(recipientsOf(all, 'purchase', {}).length, ENDPOINTS);
    const [shown] = all.map(renderEndpoint);
    assert.deepEqual(Object.keys(shown?.headers ?? {}), ['authorization']);
    assert.equal(shown?.signature_scheme, 'v1');
    assert.doesNotMatch(JSON.stringify(shown), /sealed|whsec_|of-the-subscriber/);
    assert.equal(box.opened, 0);

    const secrets = all[0] && database.endpoints.secretsOf(all[0]);
    assert.deepEqual(secrets?.headers, { authorization: 'Bearer of-the-subscriber' });
    assert.match(secrets?.signing_keys[0]?.secret ?? '', /^whsec_/);
    assert.equal(box.opened, 2, 'its headers and its signing key');
  });

  it('are also those of how deliveries are sent, and none stands in any document', async () => {
    const account = newId('account');
    const { withBearer, withOAuth, texts } = await secretOptions('https://login.example/token');
    for (const options of [withBearer, withOAuth])
      await registerDirectly(database.endpoints, account, ['https://subscriber.example/'], options);
    const stored = await database.endpoints.all(account);
    const connection = await mongoose.createConnection(uri).asPromise();
    const collections = (await connection.db?.collections()) ?? [];
    const documents = await Promise.all(collections.map((collection) => collection.find().toArray()));
    await connection.close();
    const raw = JSON.stringify(documents);
    for (const { id } of stored) assert.ok(raw.split(id).length > 2, 'the endpoint and its change are read');
    for (const [name, text] of Object.entries(texts)) assert.ok(!raw.includes(text), name);
    const opened = stored.map((one) =>
      unmaskOptions(splitOptions(one).options, database.endpoints.secretsOf(one).options),
    );
    assert.deepEqual(opened, [withBearer, withOAuth]);
  });

  it('keep signing through a rotation without being decrypted', async () => {
    const [endpoint] = await database.endpoints.all(accountId);
    assert.ok(endpoint);
    const before = database.endpoints.secretsOf(endpoint).signing_keys[0]?.secret;
    box.opened = 0;
    const rotated = await database.endpoints.rotateSecret(endpoint, 'v1a', 60_000, OPERATOR);
    assert.ok(rotated);
    assert.equal(box.opened, 0);
    const [newest, previous] = database.endpoints.secretsOf(rotated).signing_keys;
    assert.match(newest?.secret ?? '', /^whsk_/);
    assert.equal(previous?.secret, before);
    assert.match(String(renderEndpoint(rotated).public_key), /^whpk_/);
  });

  it('that no key opens do not keep their endpoints from being listed', async () => {
    const other = await connectDatabase(uri, { box: new SecretBox(parseSecretKeys(newSecretKey())) });
    try {
      const [endpoint] = await other.endpoints.all(accountId);
      assert.ok(endpoint);
      assert.throws(() => other.endpoints.secretsOf(endpoint), SealError);
    } finally {
      await other.close();
    }
  });
});
