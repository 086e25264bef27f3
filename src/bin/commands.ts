import type { ParseArgsConfig } from 'node:util';
import { loadSettings } from '../config/load.js';

type Values = Record<string, unknown>;

/** One thing that the command line can do. */
interface Command {
  /** In a few words. */
  summary: string;
  /** What its options do, a line each. */
  help: readonly string[];
  options: NonNullable<ParseArgsConfig['options']>;
  run(values: Values, positionals: string[]): Promise<void>;
}

/**
 * Everything that the command line can do. A command's module is loaded when it is run: `serve` must be ready soon, and what only `dev`
 * needs takes time to load.
 */
export const COMMANDS = {
  dev: {
    summary: 'run a whole system on this machine: finds or starts Temporal and MongoDB',
    help: [],
    options: {},
    async run() {
      const { dev } = await import('./dev.js');
      await dev(loadSettings());
    },
  },
  demo: {
    summary: 'send one purchase through a running `hookline dev` and watch it arrive',
    help: [
      '--fail 2          the subscriber answers 500 to the first two attempts',
      '--slow 6s         it takes six seconds to answer, longer than the limit of five',
      '--refuse          it closes every connection',
      '--schedule 1s,2s  the waits between attempts; by default 1s,2s,3s,4s',
    ],
    options: {
      fail: { type: 'string' },
      slow: { type: 'string' },
      refuse: { type: 'boolean' },
      schedule: { type: 'string' },
    },
    async run(values) {
      const { demo } = await import('./demo.js');
      await demo(loadSettings(), values);
    },
  },
  serve: {
    summary: 'run the service on the servers that TEMPORAL_ADDRESS and MONGODB_URI name',
    help: ['--role all        all, api or worker'],
    options: { role: { type: 'string', default: 'all' } },
    async run(values) {
      const { serve } = await import('./serve.js');
      await serve(loadSettings(), String(values['role']));
    },
  },
  migrate: {
    summary: 'prepare those servers for this version; needed once before `serve`',
    help: [],
    options: {},
    async run() {
      const settings = loadSettings();
      const [{ createLogger, say }, { migrate }] = await Promise.all([
        import('./process/output.js'),
        import('./migrate.js'),
      ]);
      createLogger(settings);
      await migrate(settings, say);
      say('Temporal and MongoDB are ready.');
    },
  },
  'secret-key': {
    summary: 'make a key for HOOKLINE_SECRET_KEYS',
    help: [],
    options: {},
    async run() {
      const { newSecretKey } = await import('../domain/access/secret-box.js');
      process.stdout.write(`${newSecretKey()}\n`);
    },
  },
  reseal: {
    summary:
      'encrypt stored secrets with the first of HOOKLINE_SECRET_KEYS, so that the others can be dropped',
    help: [],
    options: {},
    async run() {
      const { reseal } = await import('./reseal.js');
      await reseal(loadSettings());
    },
  },
  account: {
    summary: 'create an account and an API key: hookline account <name>',
    help: ['--operator   the key may manage accounts, too'],
    options: { operator: { type: 'boolean', default: false } },
    async run({ operator }, [name]) {
      if (!name) throw new Error('Name the account: hookline account <name>');
      const { createAccount } = await import('./account.js');
      await createAccount(loadSettings(), name, operator === true);
    },
  },
  key: {
    summary: 'print the query that finds a business key in Temporal UI: hookline key <account> <name:value>',
    help: [],
    options: {},
    async run(_values, [accountId, key]) {
      if (!accountId || !key) throw new Error('Name account and key: hookline key <account> order_id:1001');
      const { printKeyQuery } = await import('./key.js');
      await printKeyQuery(loadSettings(), accountId, key);
    },
  },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof COMMANDS;
