import type { ParseArgsConfig } from 'node:util';
import { loadSettings } from '../config/load.js';
import { ACCOUNT_SCOPES, SCOPES } from '../domain/access/api-key.js';
import { newSecretKey } from '../domain/access/secret-box.js';
import { connectDatabase } from '../models/database.js';
import { demo, demoOptions } from './demo.js';
import { dev } from './dev.js';
import { migrate, requireServers } from './migrate.js';
import { createLogger, say } from './output.js';
import { requireSecretBox } from './secrets.js';
import { serve } from './serve.js';

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

/** Everything that the command line can do. */
export const COMMANDS = {
  dev: {
    summary: 'run a whole system on this machine: finds or starts Temporal and MongoDB',
    help: [],
    options: {},
    run: () => dev(loadSettings()),
  },
  demo: {
    summary: 'send one purchase through a running `hookline dev` and watch it arrive',
    help: [
      '--fail 2          the subscriber answers 500 to the first two attempts',
      '--slow 6s         it takes six seconds to answer, longer than the limit of five',
      '--refuse          it closes every connection',
      '--schedule 1s,2s  the waits between attempts; by default 1s,2s,3s,4s',
    ],
    options: demoOptions,
    run: (values) => demo(loadSettings(), values),
  },
  serve: {
    summary: 'run the service on the servers that TEMPORAL_ADDRESS and MONGODB_URI name',
    help: ['--role all        all, api or worker'],
    options: { role: { type: 'string', default: 'all' } },
    run: (values) => serve(loadSettings(), String(values['role'])),
  },
  migrate: {
    summary: 'prepare those servers for this version; needed once before `serve`',
    help: [],
    options: {},
    async run() {
      const settings = loadSettings();
      createLogger(settings);
      await migrate(settings, say);
      say('Temporal and MongoDB are ready.');
    },
  },
  'secret-key': {
    summary: 'make a key for HOOKLINE_SECRET_KEYS',
    help: [],
    options: {},
    run: async () => say(newSecretKey()),
  },
  reseal: {
    summary:
      'encrypt stored secrets with the first of HOOKLINE_SECRET_KEYS, so that the others can be dropped',
    help: [],
    options: {},
    async run() {
      const settings = loadSettings();
      const database = await connectDatabase(requireServers(settings).mongodbUri, requireSecretBox(settings));
      try {
        say(`Endpoints whose secrets were sealed anew: ${await database.endpoints.resealAll()}`);
      } finally {
        await database.close();
      }
    },
  },
  account: {
    summary: 'create an account and an API key: hookline account <name>',
    help: ['--operator   the key may manage accounts, too'],
    options: { operator: { type: 'boolean', default: false } },
    async run({ operator }, [name]) {
      if (!name) throw new Error('Name the account: hookline account <name>');
      const database = await connectDatabase(requireServers(loadSettings()).mongodbUri);
      try {
        const account = await database.accounts.create(name);
        const { key } = await database.apiKeys.create(
          account.id,
          'first key',
          operator ? SCOPES : ACCOUNT_SCOPES,
        );
        say(`Account ${account.id} (${name})`);
        say(`API key ${key}`);
        say('The key is shown this once: only its hash is kept.');
      } finally {
        await database.close();
      }
    },
  },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof COMMANDS;
