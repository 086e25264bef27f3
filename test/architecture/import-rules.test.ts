import { deepEqual, equal, ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

interface Rule {
  name: string;
}

/** Violation of a rule: a file, or a folder where the rule is one of folders. */
interface Violation {
  from: string;
  rule: Rule;
}

const RULES = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as { forbidden: Rule[] };

/** For each rule, the smallest project that breaks it: every file's name and text. */
const VIOLATIONS: Record<string, Record<string, string>> = {
  'no-cycles': {
    'src/domain/a.ts': "import { b } from './b.js'; export const a = () => b;",
    'src/domain/b.ts': "import { a } from './a.js'; export const b = () => a;",
  },
  'no-unresolved': { 'src/domain/a.ts': "import './absent.js';" },
  'nothing-imports-test': { 'src/bin/a.ts': "import '../../test/b.js';", 'test/b.ts': 'export {};' },
  'tools-import': {
    'tools/a.ts': "import '../test/b.test.js';",
    'test/b.test.ts': 'export {};',
  },
  'only-tests-import-tools': { 'bench/a.ts': "import '../tools/b.js';", 'tools/b.ts': 'export {};' },
  'domain-is-alone': {
    'src/domain/a.ts': "import type { B } from '../config/b.js'; export type A = B;",
    'src/config/b.ts': 'export type B = 1;',
  },
  'shelves-have-an-order': {
    'src/domain/delivery/a.ts': "import type { B } from '../event/b.js'; export type A = B;",
    'src/domain/event/b.ts': 'export type B = 1;',
    'src/domain/event/c.ts': "import type { D } from '../delivery/d.js'; export type C = D;",
    'src/domain/delivery/d.ts': 'export type D = 1;',
  },
  'pages-share-parts': {
    'web/src/pages/events/a.ts': "import '../kinds/b.js';",
    'web/src/pages/kinds/b.ts': 'export {};',
  },
  'parts-know-no-page': {
    'web/src/parts/a.ts': "import '../pages/kinds/b.js';",
    'web/src/pages/kinds/b.ts': 'export {};',
  },
  'read-knows-no-write': {
    'src/temporal/read/a.ts': "import type { B } from '../write/b.js'; export type A = B;",
    'src/temporal/write/b.ts': 'export type B = 1;',
  },
  'workflows-import-domain': {
    'workflows/a.ts': "import type { B } from '../src/temporal/b.js'; export type A = B;",
    'src/temporal/b.ts': 'export type B = 1;',
  },
  'workflows-import-activities-as-types': {
    'dist/workflows/a.js': "import '../activities/b.js';",
    'dist/activities/b.js': 'export {};',
  },
  'workflows-are-deterministic': {
    'dist/workflows/a.js': "import '../src/domain/b.js';",
    'dist/src/domain/b.js': "import 'node:crypto';",
  },
  'workflow-packages': {
    'dist/workflows/a.js': "import '../src/domain/b.js';",
    'dist/src/domain/b.js': "import 'ulid';",
  },
  'commands-use-the-api': {
    'src/bin/client/a.ts': "import '../../config/b.js';",
    'src/config/b.ts': 'export {};',
  },
  'nothing-imports-web': { 'src/api/a.ts': "import '../../web/src/b.js';", 'web/src/b.ts': 'export {};' },
  'activities-import-domain': {
    'activities/a.ts': "import '../src/config/b.js';",
    'src/config/b.ts': 'export {};',
  },
  'models-import-domain': { 'src/models/a.ts': "import '../api/b.js';", 'src/api/b.ts': 'export {};' },
  'temporal-imports-workflows': {
    'src/temporal/a.ts': "import '../models/b.js';",
    'src/models/b.ts': 'export {};',
  },
  'api-imports': { 'src/api/a.ts': "import '../../activities/b.js';", 'activities/b.ts': 'export {};' },
  'config-imports-domain': { 'src/config/a.ts': "import '../api/b.js';", 'src/api/b.ts': 'export {};' },
  'packages-are-alone': {
    'packages/tlog/src/a.ts': "import '../../egress/src/b.js';",
    'packages/egress/src/b.ts': 'export {};',
  },
  'packages-are-entered-by-their-exports': {
    'src/bin/a.ts': "import '../../packages/embedded-servers/src/servers/b.js';",
    'packages/embedded-servers/src/servers/b.ts': 'export {};',
  },
  'tests-of-packages': {
    'packages/tlog/test/a.test.ts': "import '../../../src/domain/b.js';",
    'src/domain/b.ts': 'export {};',
  },
  'servers-are-started-by-bin': {
    'src/api/a.ts': "import '../../packages/embedded-servers/src/index.js';",
    'packages/embedded-servers/src/index.ts': 'export {};',
  },
  'client-is-alone': { 'clients/typescript/src/a.ts': "import 'node:fs';" },
  'demo-is-a-client': { 'src/demo/a.ts': "import '../models/b.js';", 'src/models/b.ts': 'export {};' },
  'only-bin-imports-bin': { 'src/api/a.ts': "import '../bin/b.js';", 'src/bin/b.ts': 'export {};' },
  'mongoose-in-models': {
    'src/api/a.ts': "import type { Types } from 'mongoose'; export type A = Types.ObjectId;",
  },
  'koa-in-api': { 'activities/a.ts': "import Koa from 'koa'; export const a = Koa;" },
};

/** Projects that break no rule. */
const ALLOWED: Record<string, Record<string, string>> = {
  'tools that use the code and the support of tests, and tests that use tools': {
    'src/bin/a.ts': 'export {};',
    'test/support/b.ts': 'export {};',
    'bench/support/c.ts': 'export {};',
    'tools/d.ts': "import '../src/bin/a.js'; import '../test/support/b.js'; import '../bench/support/c.js';",
    'test/unit/e.test.ts': "import '../../tools/d.js';",
  },
  'packages by what they export, and their tests with the support of tests': {
    'packages/embedded-servers/src/index.ts': 'export {};',
    'src/bin/a.ts': "import '../../packages/embedded-servers/src/index.js';",
    'test/support/b.ts': 'export {};',
    'packages/embedded-servers/test/c.test.ts':
      "import '../src/index.js'; import '../../../test/support/b.js';",
  },
  'pages that import parts, and files of the same subject': {
    'web/src/parts/a.ts': 'export {};',
    'web/src/pages/kinds/b.ts': 'export {};',
    'web/src/pages/kinds/c.ts': "import '../../parts/a.js'; import './b.js';",
  },
  'types of activities in workflows, and domain rules everywhere': {
    'src/domain/a.ts': 'export const a = 1; export type A = 1;',
    'activities/b.ts': "import type { A } from '../src/domain/a.js'; export type B = A;",
    'workflows/c.ts':
      "import type { B } from '../activities/b.js'; import { a } from '../src/domain/a.js'; export const c: B = a;",
    'dist/workflows/c.js': "import { a } from '../src/domain/a.js'; export const c = a;",
    'dist/src/domain/a.js': 'export const a = 1;',
  },
};

describe('Import rules', () => {
  const projects = Object.entries({ ...VIOLATIONS, ...ALLOWED }).map(
    ([name, files], number) => [name, ownNames(files, number)] as const,
  );
  let violations: Violation[];

  before(() => {
    violations = cruise(Object.assign({}, ...projects.map(([, files]) => files)));
  });

  /** The rules that files of a project break, or folders of it. */
  const brokenBy = (project: string) => {
    const names = projects.flatMap(([name, files]) => (name === project ? Object.keys(files) : []));
    ok(names.length > 0);
    return violations
      .filter(({ from }) => names.some((name) => name === from || name.startsWith(`${from}/`)))
      .map(({ rule }) => rule.name);
  };

  it('are each proven below', () => {
    deepEqual(Object.keys(VIOLATIONS).sort(), RULES.forbidden.map(({ name }) => name).sort());
  });

  for (const rule of Object.keys(VIOLATIONS)) {
    it(`refuse what breaks ${rule}`, () => {
      const broken = brokenBy(rule);
      ok(broken.includes(rule), broken.join());
    });
  }

  for (const project of Object.keys(ALLOWED)) {
    it(`accept ${project}`, () => deepEqual(brokenBy(project), []));
  }
});

describe('Source rules', () => {
  it('refuse what is long, wide, nameless or named twice, warn of a full folder, and refuse what reads the environment or the clock of the machine, long steps, and units of time that are written out', () => {
    const folder = project({
      'src/domain/long.ts': '\n// line'.repeat(401),
      'src/domain/wide.ts': `/** ${'word '.repeat(24)}*/\nexport const text = '${'word '.repeat(24)}';`,
      'src/domain/narrow.ts': `// ${'x'.repeat(117)}`,
      'src/domain/nameless.ts': '/**\n * What it was.\n */',
      'src/domain/named.ts': '/** Whatever is left. */\n// What is not a doc comment',
      ...numbered(15, (number) => `src/models/full/${number}.ts`),
      ...numbered(14, (number) => `src/models/fair/${number}.ts`),
      ...numbered(15, (number) => `test/unit/many/${number}.test.ts`),
      'src/domain/twice.ts': 'export interface Twice {}',
      'src/models/twice.ts': 'class Twice {}',
      'packages/tlog/src/twice.ts': 'export class Twice {}',
      'src/api/sly.ts': 'export const key = process.env["KEY"];',
      'src/config/load.ts': 'export const all = process.env;',
      'src/models/early.ts': 'export const now = Date.now();',
      'activities/late.ts': 'export const now = new Date();',
      'workflows/own.ts': 'export const now = Date.now();',
      'workflows/slow.ts': "const limits = { startToCloseTimeout: '1m', retry: {} };",
      'workflows/beating.ts': "const limits = { startToCloseTimeout: '1h', heartbeatTimeout: '10s' };",
      'workflows/short.ts': 'const limits = { startToCloseTimeout: SHORT_STEP };',
      'src/domain/hours.ts': 'export const HOURS_MS = 2 * 3_600_000;',
      'src/domain/basics/duration.ts': 'export const UNITS = { h: 3_600_000 };',
      'packages/tlog/src/hours.ts': 'export const HOURS_MS = 2 * 3_600_000;',
    });
    const run = spawnSync(process.execPath, [resolve('tools/check-sources.mjs'), folder], {
      encoding: 'utf8',
    });
    remove(folder);
    equal(run.status, 1);
    deepEqual(
      run.stderr
        .trim()
        .split('\n')
        .map((line) => line.replace(/(?<!^warning):.*/, '')),
      [
        'warning: src/models/full',
        'src/api/sly.ts',
        'src/domain/hours.ts',
        'src/domain/long.ts',
        'src/domain/nameless.ts',
        'src/domain/wide.ts',
        'src/models/early.ts',
        'src/models/twice.ts',
        'workflows/slow.ts',
        'activities/late.ts',
      ],
    );
  });
});

function numbered(count: number, name: (number: number) => string): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, number) => [name(number), 'export {};']));
}

/** A project's files with names that no other project's have, so that all are checked in one folder. */
function ownNames(files: Record<string, string>, number: number): Record<string, string> {
  const own = (text: string) => text.replace(/\b([a-e])(?=(\.test)?\.[jt]s\b)/g, `$1${number}`);
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [own(name), own(text)]));
}

/** Checks the imports of files. */
function cruise(files: Record<string, string>): Violation[] {
  const cwd = project(files);
  try {
    const folders = readdirSync(cwd, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const command = [resolve('node_modules/.bin/depcruise'), '--config', resolve('.dependency-cruiser.cjs')];
    const run = spawnSync(
      process.execPath,
      [...command, '--output-type', 'json', ...folders.map(({ name }) => name)],
      { cwd, encoding: 'utf8', maxBuffer: 16 * 2 ** 20 },
    );
    equal(run.status, 0, run.stderr);
    return JSON.parse(run.stdout).summary.violations;
  } finally {
    remove(cwd);
  }
}

/** @returns a folder that holds these files and our packages */
function project(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'hookline-rules-'));
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  for (const [name, text] of Object.entries({ ...files, 'package.json': '{"type":"module"}' })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
