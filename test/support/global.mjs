import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);

// Mocha requires files of tests. `import()`, here and in src, would load modules of theirs a second time, with other
// classes and clocks: `require` and `import` of compiled modules have a cache each. So it imports them, too.
require('mocha/lib/nodejs/esm-utils.cjs').requireOrImport = (file) => import(pathToFileURL(file));
require('mocha').prototype.loadFiles = () => {
  throw new Error('for one process: --no-parallel in place of --jobs 1, with which mocha can only require');
};

export { mochaGlobalSetup, mochaGlobalTeardown, mochaHooks } from './global.js';
