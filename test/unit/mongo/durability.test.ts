import assert from 'node:assert/strict';
import { requireDurable } from '../../../src/models/mongo/durability.js';

describe('a connection string', () => {
  const check = (query: string) =>
    requireDurable('MONGODB_URI', `mongodb://user:of-the-user@a.example,b.example:27018/hookline${query}`);

  for (const query of [
    '',
    '?replicaSet=rs0&authSource=admin&tls=true',
    '?w=majority&journal=true&readPreference=primary&readConcernLevel=majority&retryWrites=true',
    '?retryReads=true&readConcernLevel=linearizable&maxPoolSize=50&appName=journal=false',
  ])
    it(`may have ${query || 'no options'}`, () => check(query));

  for (const option of [
    'w=1',
    'w=0',
    'W=2',
    'journal=false',
    'j=false',
    'readPreference=secondaryPreferred',
    'readpreference=nearest',
    'readConcernLevel=local',
    'readConcernLevel=available',
    'retryWrites=false',
    'retryReads=false',
  ])
    it(`may not have ${option}, and the refusal names it and no password`, () => {
      assert.throws(
        () => check(`?replicaSet=rs0&${option}`),
        ({ message }: Error) =>
          message.startsWith(`MONGODB_URI has ${option}, with which`) && !message.includes('of-the-user'),
      );
    });
});
