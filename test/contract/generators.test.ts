import { match } from 'node:assert/strict';
import { onPath } from '../../packages/embedded-servers/src/index.js';
import { GENERATORS, generateAndUse } from '../../tools/foreign-clients/generators.js';
import { folderOfEach } from '../support/folder.js';
import { type SharedSystem, sharedSystem } from '../support/system.js';

/** Generators of clients read the document that a service has, and what they make calls that service. */
describe('a client that is generated [world]', () => {
  const inFolder = folderOfEach();
  let system: SharedSystem;
  before(async () => {
    system = await sharedSystem();
  });

  for (const generator of GENERATORS) {
    it(`by ${generator.program}, without a warning, has types for what it sends and gets`, async function () {
      const program = await onPath(generator.program);
      if (program === undefined) {
        process.stderr.write(
          `${generator.program} is not on this machine, so no client of it is tried: \`npm run test:all\` installs it.\n`,
        );
        return this.skip();
      }
      const { key: token } = await system.account();
      const said = await generateAndUse(generator, program, inFolder(), { url: system.url, token });
      match(said, /an export: as expected\n$/);
    });
  }
});
