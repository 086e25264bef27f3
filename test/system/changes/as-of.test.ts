import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { parseSecretKeys, SecretBox } from '../../../src/domain/access/secret-box.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { ShownResource } from '../../../src/domain/change/change.js';
import { OPERATOR, resourceName } from '../../../src/domain/change/change.js';
import { SIGNATURE_SCHEMES } from '../../../src/domain/delivery/signature.js';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { renderEndpoint } from '../../../src/models/endpoint/endpoint-change.js';
import type { EndpointInput, StoredEndpoint } from '../../../src/models/endpoint/endpoint-document.js';
import { testEnvironment } from '../../support/system.js';

const CHANGES = 50;
/** 10,000 of them held when this was written; a tenth of them finds a mistake as well, with a new seed in each run. */
const TIMES = 80;
const SIDE_BY_SIDE = 4;

/** Model of an endpoint: its states, oldest first, each with the time since which it has been so. */
interface Known {
  id: string;
  states: { since: number; state: ShownResource | undefined }[];
}

describe('endpoints as of a time', function () {
  this.timeout(300_000);
  const seed = randomInt(2 ** 31);
  const random = mulberry32(seed);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const accountId = newId('account');
  let database: Database;

  before(async () => {
    const environment = await testEnvironment();
    const keys = parseSecretKeys(environment['HOOKLINE_SECRET_KEYS'] ?? '');
    database = await connectDatabase(environment['MONGODB_URI'] ?? '', { box: new SecretBox(keys) });
    await database.createIndexes();
  });
  after(() => database.close());

  const anyInput = (): EndpointInput => {
    const status = pick(['active', 'paused', 'pending'] as const);
    return {
      target_url: `https://subscriber.example/${pick(['a', 'b', 'c'])}`,
      event_kinds: pick([['purchase'], ['*'], ['purchase', 'order.*']]),
      ...(random() < 0.5 && {
        filter: { all: [{ path: '/total', gte: Math.floor(random() * 100) }] } as never,
      }),
      description: `description ${Math.floor(random() * 1_000)}`,
      metadata: random() < 0.5 ? {} : { 'a.b': '$set', n: String(Math.floor(random() * 10)) },
      headers: random() < 0.5 ? {} : { 'x-token': String(random()) },
      ...(random() < 0.3 && { rate_limit: 1 + Math.floor(random() * 10) }),
      ...(random() < 0.3 && { retry_schedule: ['5s', '1h'] }),
      ...(status === 'paused' && { status_reason: 'for a while' }),
      verification_method: pick(['challenge', 'graph'] as const),
      ...(random() < 0.3 && { verify_token: String(random()) }),
      status,
      status_when_verified: 'active',
    };
  };

  /** Does something at random. @returns the endpoint after it; `undefined` where that changed nothing */
  const act = async (before: StoredEndpoint): Promise<StoredEndpoint | undefined> => {
    const { endpoints } = database;
    const { id, version } = before;
    await pick([
      () => endpoints.replace(before, anyInput(), OPERATOR),
      () => endpoints.disable(accountId, id, 'failed for too long', 'a test', OPERATOR),
      () => endpoints.rotateSecret(before, pick(SIGNATURE_SCHEMES), 60_000, OPERATOR),
      () => endpoints.retireSecrets(accountId, id, OPERATOR, true),
      () =>
        endpoints.explainPending(
          accountId,
          id,
          `answered ${Math.floor(random() * 5)}`,
          before.verification_revision,
        ),
      () => endpoints.verified(before, random() < 0.5 ? undefined : 60),
      () => endpoints.verificationFailed(accountId, id, 'got a 500 response'),
      () => endpoints.setFailing(accountId, id, { since: new Date().toISOString() } as never),
    ])();
    const after = await endpoints.getFresh(accountId, id);
    return after && after.version > version ? after : undefined;
  };

  /** Lives the lives of endpoints, one after the other. @returns what the model knows of them */
  const live = async (changes: number): Promise<Known[]> => {
    const { endpoints } = database;
    const all: Known[] = [];
    let made = 0;
    while (made < changes) {
      let endpoint = await endpoints.create(accountId, anyInput(), OPERATOR);
      const known: Known = { id: endpoint.id, states: [] };
      all.push(known);
      const learn = () =>
        known.states.push({
          since: Date.parse(endpoint.updated_at),
          state: JSON.parse(JSON.stringify(renderEndpoint(endpoint))) as ShownResource,
        });
      learn();
      made += 1;
      while (made < changes && random() > 0.03) {
        const after = await act(endpoint);
        if (!after) continue;
        endpoint = after;
        learn();
        made += 1;
      }
      if (random() < 0.7) {
        await endpoints.delete(accountId, endpoint.id, OPERATOR);
        const [deleted] = await database.changes.list(
          accountId,
          { resource: resourceName('endpoint', endpoint.id) },
          1,
        );
        known.states.push({ since: Date.parse(deleted?.at ?? ''), state: undefined });
        made += 1;
      }
    }
    return all;
  };

  it(`are what a model says, at ${TIMES} times after ${CHANGES} changes [world]`, async () => {
    const lives = Array.from({ length: SIDE_BY_SIDE }, () => live(CHANGES / SIDE_BY_SIDE));
    const all = (await Promise.all(lives)).flat();
    const times = all.flatMap(({ states }) => states.map(({ since }) => since));
    assert.ok(times.length >= CHANGES);
    const [first, last] = [Math.min(...times), Math.max(...times)];
    const check = async () => {
      const { id, states } = pick(all);
      // Around changes of this endpoint, where mistakes would be, and anywhere else.
      const time =
        random() < 0.5
          ? pick(states).since + pick([-1, 0, 1])
          : first - 1_000 + Math.floor(random() * (last - first + 2_000));
      const expected = states.findLast(({ since }) => since <= time)?.state;
      const past = await database.changes.stateAt(accountId, resourceName('endpoint', id), new Date(time));
      assert.deepEqual(
        past,
        { known: true, state: expected },
        `seed ${seed}: ${id} at ${new Date(time).toISOString()}`,
      );
    };
    for (let done = 0; done < TIMES; done += SIDE_BY_SIDE)
      await Promise.all(Array.from({ length: SIDE_BY_SIDE }, check));
  });
});

/** A generator that a seed repeats. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
