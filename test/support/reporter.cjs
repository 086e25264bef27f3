'use strict';
const { existsSync, readdirSync, readFileSync } = require('node:fs');
const { reporters } = require('mocha');

/** So many of the slowest tests are named, of those that take a second and more. */
const SLOWEST = 10;
const SLOW_MS = 1_000;

/**
 * Mocha's own report, and what a change of the tests should look at: which tests did not run, the slowest ones, the
 * processor time of each folder, how much was started, which tests failed. The last line has the two numbers that
 * matter.
 */
module.exports = class extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    this.notRun = [];
    this.failed = [];
    this.slowest = [];
    runner.on('pending', (test) => this.notRun.push(test.fullTitle()));
    runner.on('fail', (test, error) => {
      this.failed.push({ title: test.fullTitle(), error });
      // The rest of it is told at the end, which may be half an hour away.
      process.stdout.write(`      ${firstLine(error)}\n`);
    });
    runner.on('test end', (test) => {
      if (test.duration >= SLOW_MS) this.slowest.push({ ms: test.duration, title: test.fullTitle() });
    });
  }

  epilogue() {
    super.epilogue();
    const { passes, failures, pending } = this.stats;
    const say = (line) => process.stdout.write(`${line}\n`);
    for (const title of this.notRun) say(`not run: ${title}`);
    this.slowest.sort((a, b) => b.ms - a.ms);
    for (const { ms, title } of this.slowest.slice(0, SLOWEST))
      say(`slow: ${(ms / 1000).toFixed(1)} s ${title}`);
    // Counted in test/support/started.ts.
    const file = process.env.TEST_STARTED;
    const counts = file && existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    say(processorOf(counts));
    const count = (what) => counts.filter((line) => line === what).length;
    if (count('system') + count('process') > 0)
      say(`started: ${count('system')} systems, ${count('process')} processes`);
    // Once more at the end: of a long output often the last lines alone are kept.
    for (const { title, error } of this.failed) say(`failed: ${title}: ${firstLine(error)}`);
    say(`${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}`);
  }
};

function firstLine(error) {
  return String(error?.message ?? error).split('\n', 1)[0];
}

/** Processor time of the run, in the tests of each folder and in the servers that still run, the largest first. */
function processorOf(counts) {
  const parts = new Map();
  const add = (name, ms) => parts.set(name, (parts.get(name) ?? 0) + ms);
  for (const line of counts) {
    const [, ms, name] = /^processor (\d+) (.*)$/.exec(line) ?? [];
    if (ms) add(name || 'test', Number(ms));
  }
  const { all, running } = processes();
  for (const [name, ms] of running) add(name, ms);
  const sum = [...parts.values()].reduce((total, ms) => total + ms, 0);
  const list = [...parts, ['mocha and builds', Math.max(0, all - sum)]]
    .sort(([, a], [, b]) => b - a)
    .filter(([, ms]) => ms >= 500)
    .map(([name, ms]) => `${name} ${Math.round(ms / 1000)}`);
  return `processor: ${Math.round(Math.max(all, sum) / 1000)} s: ${list.join(', ')}`;
}

/**
 * Milliseconds of this process, of those that it started and that have ended, and of those that run, by their names.
 * Linux alone tells.
 */
function processes() {
  const stats = new Map();
  for (const pid of existsSync('/proc/self/stat')
    ? readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    : []) {
    try {
      // proc(5): the name, and after it state, parent, … utime, stime, cutime and cstime in hundredths of a second.
      const [, name, rest] = /\((.*)\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
      const fields = rest.split(' ').map(Number);
      const ms = fields.slice(11, 15).reduce((sum, ticks) => sum + ticks * 10, 0);
      stats.set(Number(pid), { name, parent: fields[1], ms });
    } catch {
      // It has ended meanwhile.
    }
  }
  const isOurs = (pid) => pid !== undefined && (pid === process.pid || isOurs(stats.get(pid)?.parent));
  const running = new Map();
  let all = 0;
  for (const [pid, { name, ms }] of stats) {
    if (!isOurs(pid)) continue;
    all += ms;
    if (pid !== process.pid) running.set(name, (running.get(name) ?? 0) + ms);
  }
  return { all, running };
}
