import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { modelsWithUnique, uniqueIndexes } from '../../support/parts/unique-indexes.js';

describe('the databases of tests', () => {
  it('have every unique index, which rules depend on', () => {
    const connection = mongoose.createConnection();
    for (const made of ['autoIndex', 'autoCreate']) connection.set(made, false);
    modelsWithUnique(connection);
    const folder = 'src/models';
    const declared = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').match(/\bunique: true\b/g) ?? []);
    assert.equal(uniqueIndexes(connection).length, declared.length);
  });
});
