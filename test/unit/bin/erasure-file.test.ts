import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  readErasureFile,
  type SomeErasure,
  writeErasureFile,
} from '../../../src/bin/privacy/erasure-file.js';
import { MAX_ERASURE_LINE } from '../../../src/bin/privacy/erasure-line.js';
import { newSecretKey, parseSecretKeys, SecretBox } from '../../../src/domain/access/secret-box.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { newDataKey } from '../../../src/domain/privacy/data-key.js';

const AT = '2026-11-26T12:00:00.000Z';

function someErasure(): SomeErasure {
  return {
    type: 'erasure',
    account_id: newId('account'),
    erasure: {
      id: newId('erasure'),
      status: 'complete',
      open: 'cancel',
      requested_at: AT,
      requested_by: newId('api_key'),
      erased_at: AT,
      completed_at: AT,
      key: { id: newDataKey().id, created_at: AT },
      covered: { events: 1, deliveries: 2, open_deliveries: 1 },
      cancelled_deliveries: 1,
    },
  };
}

async function* each<T>(values: readonly T[]): AsyncIterable<T> {
  yield* values;
}

describe('a file of erasures', () => {
  const key = newSecretKey();
  const box = new SecretBox(parseSecretKeys(key));
  const some = [
    someErasure(),
    { type: 'account', account_id: newId('account'), erasure_requested_at: AT } as const,
  ];
  let folder: string;
  let path: string;
  let lines: string[];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hookline-erasures-'));
    path = join(folder, 'erasures.ndjson');
    assert.equal(await writeErasureFile(path, each(some), box), 2);
    lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  });
  after(() => rm(folder, { recursive: true }));

  async function read(text: string, by = box) {
    await writeFile(path, text);
    const said: string[] = [];
    const file = readErasureFile(path, by, (line) => void said.push(line));
    const found: SomeErasure[] = [];
    for await (const line of file.lines()) found.push(line);
    return { found, isWhole: file.isWhole(), said: said.join('\n') };
  }

  it('is read as it was written, also after the keys were rotated', async () => {
    for (const keys of [key, `${newSecretKey()},${key}`]) {
      const result = await read(lines.join('\n'), new SecretBox(parseSecretKeys(keys)));
      assert.deepEqual(result, { found: some, isWhole: true, said: '' });
    }
  });

  it('has lines that stand by themselves: what is altered is refused, and the rest is done', async () => {
    const [one = '', account = '', end = ''] = lines;
    const other = newDataKey().id;
    const { erasure } = some[0] as SomeErasure & { type: 'erasure' };
    for (const [text, says] of [
      [one.replace(erasure.key.id, other), /it was altered/],
      [one.replace(some[0]?.account_id ?? '', some[1]?.account_id ?? ''), /it was altered/],
      [one.replace(/"tag":"[^"]+"/, '"tag":""'), /it was altered/],
      [one.replace(/"tag":"[^"]+"/, '"tag":"k:\\u001b[2J"'), /it was altered/],
      [one.replace(/"tag":"\w+:/, '"tag":"another:'), /the key "another"/],
      [one.replace(/,"tag":"[^"]+"/, ''), /it was altered/],
      ['"x"', /it is no JSON object/],
      ['{', /it is no JSON object/],
      ['['.repeat(MAX_ERASURE_LINE), /it is no JSON object/],
      ['x'.repeat(3_000_000), new RegExp(`longer than ${MAX_ERASURE_LINE} characters`)],
    ] as const) {
      const { found, isWhole, said } = await read([text, account, end].join('\n'));
      assert.deepEqual([found, isWhole], [[some[1]], false], text.slice(0, 100));
      assert.match(said, says);
      assert.match(said, /^Line 1 is refused/);
      assert.ok(!said.includes('\u001b'));
    }
  });

  it('says if a part of it is missing, wherever it was cut', async () => {
    const [one = '', account = '', end = ''] = lines;
    for (const text of [
      '',
      one,
      `${one}\n${account}\n`,
      `${one}\n${end}`,
      `${one}\n${account}\n${end.slice(0, -9)}`,
    ]) {
      const { isWhole, said } = await read(text);
      assert.equal(isWhole, false);
      assert.match(said, /Apply a whole one as well/);
    }
  });

  it('keeps the one before if it cannot be written to its end', async () => {
    await writeFile(path, 'as it was');
    async function* broken(): AsyncIterable<SomeErasure> {
      yield someErasure();
      throw new Error('MongoDB is gone');
    }
    await assert.rejects(writeErasureFile(path, broken(), box), /MongoDB is gone/);
    assert.equal(await readFile(path, 'utf8'), 'as it was');
  });

  it('tells no more than ten refusals one by one', async () => {
    const { said } = await read('x\n'.repeat(2_000));
    assert.equal(said.split('\n').filter((line) => line.startsWith('Line ')).length, 10);
    assert.match(said, /^2000 lines were refused/m);
  });
});
