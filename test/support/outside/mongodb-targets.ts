import { servers } from '../servers.js';

/**
 * The servers that operations of MongoDB are tried on: the one of this run, and any other that the environment names.
 *
 *     TEST_MONGODB_URI=mongodb://127.0.0.1:27017 npx mocha 'test/system/operations/mongodb-*.test.ts'
 */
export const mongodbTargets: readonly (readonly [name: string, uri: () => string])[] = [
  ['the embedded server', () => servers().mongodbUri] as const,
  ...[process.env['TEST_MONGODB_URI']].flatMap((uri) =>
    uri ? [['the server that TEST_MONGODB_URI names', () => uri] as const] : [],
  ),
];
