import { deepEqual, equal, rejects } from 'node:assert/strict';
import fc from 'fast-check';
import { Hookline } from '../../../clients/typescript/src/index.js';
import { parseKeyHeader } from '../../../src/domain/event/business-keys.js';
import { anyCharacter } from '../../support/parts/any-character.js';

/** The header that the client sends, as the API reads it. */
async function readBack(keys: Record<string, string>) {
  let header: string | null = null;
  const fetch = async (request: Parameters<typeof globalThis.fetch>[0]) => {
    header = (request as Request).headers.get('hookline-key');
    return Response.json({ id: 'evt_1' }, { status: 202 });
  };
  const hookline = new Hookline({ url: 'http://hookline.test', token: 'key', fetch });
  await hookline.postEvent('purchase', '{}', { keys });
  return parseKeyHeader(header ?? '');
}

describe('keys that the client sends along', () => {
  for (const value of ['José', 'a,b', '50%', '名前', '%41', 'a=b', ' a b ', '"', '😀', '\n'])
    it(`arrive as they are: ${JSON.stringify(value)}`, async () =>
      deepEqual(await readBack({ name: value, other: '7' }), [
        { name: 'name', value },
        { name: 'other', value: '7' },
      ]));

  it('arrive as they are, whatever characters they have', () =>
    fc.assert(
      fc.asyncProperty(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 40 }), async (value) =>
        deepEqual(await readBack({ name: value }), [{ name: 'name', value }]),
      ),
    ));

  it('are not sent with half of a surrogate pair', async () => {
    await rejects(readBack({ name: '\ud83d' }), URIError);
    equal(await readBack({}).then(Array.isArray), false);
  });
});
