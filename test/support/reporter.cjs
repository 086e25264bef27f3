'use strict';
const { existsSync, readFileSync } = require('node:fs');
const { reporters } = require('mocha');

/**
 * Mocha's own report, which tests did not run, how much was started, and a last line with the two numbers that matter.
 */
module.exports = class extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    this.notRun = [];
    runner.on('pending', (test) => this.notRun.push(test.fullTitle()));
  }

  epilogue() {
    super.epilogue();
    const { passes, failures, pending } = this.stats;
    for (const title of this.notRun) process.stdout.write(`not run: ${title}\n`);
    // Counted in test/support/started.ts.
    const file = process.env.TEST_STARTED;
    const started = file && existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    const count = (what) => started.filter((line) => line === what).length;
    if (started.length > 0)
      process.stdout.write(`started: ${count('system')} systems, ${count('process')} processes\n`);
    process.stdout.write(
      `${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}\n`,
    );
  }
};
