import { CLIENT_COMMANDS } from './client/commands.js';
import { print } from './client/terminal.js';
import { type Command, CommandError, flag, json, text, type Values } from './command.js';

/** Reading the settings takes time, and commands that need none must not complain about them. */
async function loadSettings() {
  const { loadSettings: load } = await import('../config/load.js');
  return load();
}

/**
 * The settings of a command for operators, which can be used beside `hookline dev` without saying where its servers
 * are.
 */
async function loadServerSettings() {
  const [settings, { withServersOfDev }] = await Promise.all([
    loadSettings(),
    import('./process/settings-of-dev.js'),
  ]);
  return withServersOfDev(settings);
}

/**
 * Commands that run the service. A command's module is loaded when it is run: `serve` must be ready soon, and what only
 * `dev` needs takes time to load.
 */
const SERVICE_COMMANDS = {
  dev: {
    summary: 'run a whole system on this machine: finds or starts Temporal and MongoDB',
    run: async () => (await import('./dev.js')).dev(await loadSettings()),
  },
  demo: {
    summary: 'send one purchase through a running `hookline dev` and watch it arrive',
    help: [
      '--fail 2          the subscriber responds with 500 to the first two attempts',
      '--slow 6s         it takes six seconds to respond, longer than the limit of five',
      '--refuse          it closes every connection',
      '--schedule 1s,2s  the waits between attempts; by default 1s,2s,3s,4s',
    ],
    options: { fail: text, slow: text, refuse: flag, schedule: text },
    run: async (values) => (await import('./demo.js')).demo(await loadSettings(), values),
  },
  serve: {
    summary: 'run the service on the servers that TEMPORAL_ADDRESS and MONGODB_URI name',
    help: ['--role all        all, api or worker'],
    options: { role: { type: 'string', default: 'all' } },
    run: async (values) => (await import('./serve.js')).serve(await loadSettings(), String(values['role'])),
  },
  migrate: {
    summary: 'prepare those servers for this version; needed once before `serve`',
    async run() {
      const settings = await loadSettings();
      const [{ createLogger }, { migrate }] = await Promise.all([
        import('./process/output.js'),
        import('./migrate.js'),
      ]);
      createLogger(settings);
      await migrate(settings, print);
      print('Temporal and MongoDB are ready.');
    },
  },
  'secret-key': {
    summary: 'make a key for HOOKLINE_SECRET_KEYS',
    async run() {
      const { newSecretKey } = await import('../domain/access/secret-box.js');
      print(newSecretKey());
    },
  },
  'log-key': {
    summary: 'make a key for HOOKLINE_LOG_KEY: hookline log-key <name>, such as hooks.example.com/log',
    async run(_values, [name]) {
      if (!name) throw new Error('Name the log: hookline log-key hooks.example.com/log');
      const { newSigningKey } = await import('../../packages/tlog/src/index.js');
      print(newSigningKey(name));
    },
  },
  records: {
    summary: 'compare what is recorded with the log that proves it, and name every difference',
    usage: 'verify [--kept-days N] [--json]',
    help: [
      '--kept-days N      no record may be gone before that; by default the least of HOOKLINE_RECORD_DAYS and HOOKLINE_CHANGES_DAYS',
      '--json             for programs: JSON, a line each',
    ],
    actions: ['verify'],
    options: { 'kept-days': text, json },
    async run(values, [action]) {
      if (action !== 'verify') throw new CommandError('Say what to do: hookline records verify');
      const { verifyRecords } = await import('./records/verify.js');
      if (!(await verifyRecords(await loadServerSettings(), values))) process.exitCode = 1;
    },
  },
  rebuild: {
    summary: 'after a restore, start what the documents say is open, and report what Temporal alone knows',
    usage: '[--since TIME] [--dry-run]',
    help: [
      '--since TIME       looks at events from then on; by default HOOKLINE_RETENTION_DAYS and a day',
      '--dry-run          only says what it would do',
      'It may be repeated at any time, also while processes run.',
    ],
    options: { since: text, 'dry-run': flag },
    async run(values) {
      const { rebuild } = await import('./records/rebuild.js');
      if (!(await rebuild(await loadServerSettings(), values))) process.exitCode = 1;
    },
  },
  privacy: {
    summary:
      'keep a list of erasures apart from the backups, do them again after a restore, and make them final',
    usage: 'export FILE | reapply [FILE] | rotate',
    help: [
      'export FILE    writes the erasures of all accounts; the file names nobody',
      'reapply FILE   does them again on the restored system; may be repeated',
      'reapply        does those again that the database has recorded, after its data keys were restored alone',
      'rotate         wraps all data keys with the first of HOOKLINE_WRAPPING_KEYS, so that the former ones can be destroyed',
    ],
    actions: ['export', 'reapply', 'rotate'],
    async run(_values, [action, path]) {
      const { exportErasures, reapplyErasures, rotateWrapping } = await import('./privacy/privacy.js');
      if (action === 'export') return exportErasures(await loadServerSettings(), path);
      if (action !== 'reapply' && action !== 'rotate')
        throw new CommandError(
          'Say what to do: hookline privacy export FILE, hookline privacy reapply FILE, or hookline privacy rotate',
        );
      const settings = await loadServerSettings();
      const isWhole = action === 'rotate' ? rotateWrapping(settings) : reapplyErasures(settings, path);
      if (!(await isWhole)) process.exitCode = 1;
    },
  },
  reseal: {
    summary:
      'encrypt stored secrets with the first of HOOKLINE_SECRET_KEYS, so that the others can be dropped',
    run: async () => (await import('./reseal.js')).reseal(await loadServerSettings()),
  },
  account: {
    summary: 'create an account and an API key: hookline account <name>',
    help: [
      '--platform   the key makes accounts of its own, and acts for them',
      '--operator   the key manages all accounts, and acts for them',
    ],
    options: { platform: flag, operator: flag },
    async run({ platform, operator }, [name]) {
      if (!name) throw new Error('Name the account: hookline account <name>');
      const { printAccount } = await import('./account.js');
      if (platform && operator)
        throw new Error('Choose --platform or --operator: a key is one or the other.');
      await printAccount(
        await loadServerSettings(),
        name,
        operator ? 'operator' : platform ? 'platform' : 'account',
      );
    },
  },
  'test-alert': {
    summary: 'send a test message to the addresses and the chat that alerts go to',
    help: [
      'HOOKLINE_ALERT_MAIL_TO    the addresses; with HOOKLINE_ALERT_MAIL_FROM and HOOKLINE_SMTP_URL',
      'HOOKLINE_ALERT_CHAT_URL   the chat',
    ],
    run: async () => (await import('./operator/test-alert.js')).testAlert(await loadSettings()),
  },
  temporal: {
    summary: "run Temporal's own command line on Hookline's server and namespace",
    help: ['hookline temporal workflow list --query "HooklineStatus = \'retrying\'"'],
    isRaw: true,
    run: async (_values, args) =>
      (await import('./operator/temporal.js')).temporal(await loadSettings(), args),
  },
} as const satisfies Record<string, Command>;

const SHELL_COMMANDS = {
  completion: {
    summary: 'print a script that completes commands: for bash, zsh or fish',
    usage: 'bash|zsh|fish',
    help: ['source <(hookline completion bash)'],
    actions: ['bash', 'zsh', 'fish'],
    async run(_values: Values, [shell]: string[]) {
      const { completion } = await import('./client/completion.js');
      process.stdout.write(completion(shell, COMMANDS));
    },
  },
} as const satisfies Record<string, Command>;

/** Commands that need neither a server nor settings. */
const PROOF_COMMANDS = {
  verify: {
    summary:
      'check a certificate without any server, and say what it proves: hookline verify certificate.json',
    help: [
      '--key text                the public key of the log, as its operator published it',
      '--payload opening.json    the response of GET /deliveries/<id>/certificate/opening',
      '--witness text            the public key of a witness that must have cosigned; several times for several',
      '--timestamp-ca file       certificates (PEM) one of which must vouch for the time stamp of the checkpoint',
      '--checkpoint file         a checkpoint of the log that you have from elsewhere',
      '--complete                that certificates have every number from the lowest to the highest: name all of them. Without a file, a server is asked',
      '--from TIME, --to TIME    with --complete and without a file: of events that were accepted in this period',
      '--consistency proof.json  the response of GET /log/proofs, if that checkpoint is of another size',
    ],
    options: {
      key: text,
      witness: { type: 'string', multiple: true },
      payload: text,
      'timestamp-ca': text,
      checkpoint: text,
      consistency: text,
      complete: flag,
      from: text,
      to: text,
    },
    async run(options, paths) {
      const [path] = paths;
      if (options['complete'] === true) {
        const isComplete = path
          ? await (await import('./verify.js')).verifyComplete(paths, options)
          : await (await import('./client/audit/questions.js')).askComplete(options);
        if (!isComplete) process.exitCode = 1;
        return;
      }
      if (!path) throw new Error('Name the certificate: hookline verify certificate.json');
      const { verify } = await import('./verify.js');
      await verify(path, options);
    },
  },
  witness: {
    summary: 'run a witness, which cosigns the checkpoints of logs that only grow (C2SP tlog-witness)',
    usage: '--key FILE --state FILE --log KEY [--new] [--listen HOST:PORT]',
    help: [
      '--key FILE          its private key, which "hookline witness-key NAME" makes',
      '--state FILE        what it saw last of each log. Never restore an old one',
      '--new               it has cosigned nothing yet: that file is made. Without it, a witness whose file is gone does not start',
      '--log KEY           the public key of a log (GET /log/key); several times for several',
      '--listen HOST:PORT  by default 127.0.0.1:8091',
    ],
    options: { key: text, state: text, log: { type: 'string', multiple: true }, listen: text, new: flag },
    run: async (options) => (await import('./witness/run-witness.js')).runWitness(options),
  },
  'witness-key': {
    summary: 'make the private key of a witness: hookline witness-key <name>, such as witness.example.com',
    async run(_values, [name]) {
      if (!name) throw new Error('Name the witness: hookline witness-key witness.example.com');
      const { newWitnessKey } = await import('../../packages/tlog/src/index.js');
      print(newWitnessKey(name));
    },
  },
} as const satisfies Record<string, Command>;

/** Everything that the command line can do, in the groups in which its help shows it. */
export const COMMAND_GROUPS = {
  'Use a server': CLIENT_COMMANDS,
  'Check a proof': PROOF_COMMANDS,
  'Run the service': SERVICE_COMMANDS,
  'Your shell': SHELL_COMMANDS,
} as const satisfies Record<string, Record<string, Command>>;

export const COMMANDS: Readonly<Record<string, Command>> = Object.assign(
  {},
  ...Object.values(COMMAND_GROUPS),
);
