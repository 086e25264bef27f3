'use strict';
const { reporters } = require('mocha');

/** Mocha's own report, and a last line with the two numbers that matter. */
module.exports = class extends reporters.Spec {
  epilogue() {
    super.epilogue();
    const { passes, failures, pending } = this.stats;
    process.stdout.write(
      `${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}\n`,
    );
  }
};
