'use strict';
const { reporters } = require('mocha');

/** Mocha's own report, which tests did not run, and a last line with the two numbers that matter. */
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
    process.stdout.write(
      `${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}\n`,
    );
  }
};
