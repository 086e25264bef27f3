// Rules that no linter has: files stay short, a type's name is for one thing, comments stay narrow and name what they
// describe, only named places read the environment or this machine's clock, a step of a workflow says why it takes
// long, and units of time are written in one way.
// `node tools/check-sources.mjs [folder]`
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const FOLDERS = [
  'src',
  'workflows',
  'activities',
  'packages',
  'clients/typescript/src',
  'web/src',
  'web/reference/src',
  'test',
  'bench',
  'tools',
];
/** Written by a program. */
const GENERATED = ['clients/typescript/src/schema.ts'];
const MAX_LINES = 400;
/** Of a comment, which the formatter leaves as it is. Characters. */
const MAX_WIDTH = 120;
/** Beginning of a doc comment that names no thing: "Outcome of an attempt", not "What came of it". */
const NAMES_NOTHING = /\/\*\*\s+(?:\* )?What /;
/** Folders with code of Hookline: a reader should find a file in them at a glance, so a folder holds about a dozen. */
const LAYERS = /^(src|workflows|activities|packages\/[^/]+\/src|clients|web)\b/;
const MAX_FILES = 14;
/** Files that read the environment besides tests, and why they may. */
const READS_ENVIRONMENT = {
  'packages/embedded-servers/src/child-environment.ts': 'what programs that are not ours get of it',
  'src/config/load.ts': 'the one reader of settings',
  'src/bin/command-line.ts': 'how an error is shown, when the settings may be what is wrong',
  'src/bin/client/connection.ts':
    'HOOKLINE_URL, HOOKLINE_API_KEY and HOOKLINE_ACCOUNT, which are not settings of the service',
  'src/bin/client/login/login.ts': 'HOOKLINE_URL and HOOKLINE_OAUTH_CLIENT, as above',
  'src/bin/client/login/store.ts': 'XDG_CONFIG_HOME, the user’s folder for configuration',
  'src/bin/client/terminal.ts': 'NO_COLOR and TERM, which belong to the terminal',
  'packages/embedded-servers/src/binaries/find-binary.ts': 'PATH, which is no setting of ours',
  'packages/embedded-servers/src/cache-dir.ts': 'XDG_CACHE_HOME, the user’s folder for what is kept',
};

/** Where a type's name is for one thing, be it a class, an interface or an alias: the service, and each package. */
const SHARES_NAMES = /^(src|workflows|activities|packages\/[^/]+\/src)\b/;
const DECLARED_TYPE = /^(?:export )?(?:abstract )?(?:interface|type|class|enum) (\w+)/gm;

/** The service, in which processes compare times. */
const SHARES_TIME = /^(activities|src\/(api|domain|models|temporal|bin\/service))\b/;
/** Files of it that read this machine's clock, and why they may. */
const READS_CLOCK = {
  'src/domain/time/server-clock.ts': 'compares it with that of a server',
  'packages/tlog/src/cosignature.ts': 'a witness is a program of its own',
  'src/domain/sequence/number-source.ts':
    'a lease that ends sooner by it does no harm; a machine may have slept',
  'src/api/oauth/routes.ts': 'the OAuth library goes by it',
  'src/models/access/oauth-records.ts': 'the OAuth library goes by it',
  'src/temporal/server/calls.ts': 'gRPC has deadlines by it',
};

/** Time limit of a step without heartbeats: an execution waits for so long after a process has died with the step. */
const UNNAMED_LIMIT = /\bstartToCloseTimeout: '\w+'(?!,\s+heartbeatTimeout)/;
/** The service, which writes a minute, an hour and a day as `UNITS.m`, `UNITS.h` and `UNITS.d`. */
const SHARES_UNITS = /^(activities|workflows|src\/(?!domain\/basics\/duration\.ts$))/;
const WRITTEN_OUT = /\b(?:60_000|3_600_000|86_400_000)\b|\* 3_600\b|\b60 \* 60\b/;

const root = process.argv[2] ?? '.';
const problems = [];
const warnings = [];
/** Where each type is declared. */
const typesIn = new Map();
const filesIn = new Map();
for (const folder of FOLDERS) {
  for (const name of list(join(root, folder))) {
    const file = `${folder}/${name}`;
    filesIn.set(dirname(file), (filesIn.get(dirname(file)) ?? 0) + 1);
    const text = readFileSync(join(root, file), 'utf8');
    const lines = text.trimEnd().split('\n').length;
    if (lines > MAX_LINES && !GENERATED.includes(file))
      problems.push(`${file}: ${lines} lines, more than ${MAX_LINES}: a file is about one thing`);
    const wide = text
      .split('\n')
      .findIndex((line) => line.length > MAX_WIDTH && /^\s*(\/?\*|\/\/)/.test(line));
    if (wide >= 0 && !GENERATED.includes(file))
      problems.push(`${file}: the comment in line ${wide + 1} has more than ${MAX_WIDTH} characters`);
    const nameless = text.search(NAMES_NOTHING);
    if (nameless >= 0 && !GENERATED.includes(file))
      problems.push(
        `${file}: the comment in line ${text.slice(0, nameless).split('\n').length} begins with "What": begin with a noun`,
      );
    if (SHARES_NAMES.test(file))
      for (const [, type] of text.matchAll(DECLARED_TYPE)) {
        const name = `${/^packages\/[^/]+/.exec(file)?.[0] ?? 'the service'}: ${type}`;
        const other = typesIn.get(name);
        if (other !== undefined && other !== file)
          problems.push(`${file}: ${other} has a type ${type}, too: one name is for one thing`);
        typesIn.set(name, file);
      }
    if (file.startsWith('workflows/') && UNNAMED_LIMIT.test(text))
      problems.push(
        `${file}: startToCloseTimeout without heartbeats: use SHORT_STEP of workflows/short-step.ts, or a name that says why`,
      );
    if (SHARES_UNITS.test(file) && WRITTEN_OUT.test(text))
      problems.push(`${file}: writes a unit of time out; use UNITS of src/domain/basics/duration.ts`);
    const reads = /\bprocess\s*\.\s*env\b|\benv\b.*from 'node:process'/.test(text);
    if (reads && !/^(packages\/[^/]+\/)?(test|bench|tools)\//.test(file) && !(file in READS_ENVIRONMENT))
      problems.push(`${file}: reads process.env; add a setting to src/config/schema.ts instead`);
    if (
      SHARES_TIME.test(file) &&
      /\bDate\.now\b|\bnew Date\(\)|\bperf: Date\b/.test(text) &&
      !(file in READS_CLOCK)
    )
      problems.push(
        `${file}: reads this machine's clock, which may be wrong; use sharedNow() of src/domain/time/shared-time.ts`,
      );
  }
}
for (const [folder, count] of filesIn) {
  if (LAYERS.test(folder) && count > MAX_FILES)
    warnings.push(`${folder}: ${count} files, more than ${MAX_FILES}: do some of them belong together?`);
}
for (const warning of warnings) console.warn(`warning: ${warning}`);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

function list(folder) {
  try {
    return readdirSync(folder, { recursive: true }).filter(
      (name) => /\.[cm]?[jt]sx?$/.test(name) && !/(^|\/)(node_modules|dist)\//.test(name),
    );
  } catch {
    return []; // not every project has every folder
  }
}
