/**
 * Allowed imports: the layers of `docs/code-map.md`. They are checked on the sources, where `import type` counts as an
 * import, and again on the compiled files in `dist`, which have only the imports of run time.
 */

const { readdirSync } = require('node:fs');

/** A folder of ours, in the sources and in `dist` alike. */
const ours = (...folders) => `^(dist/)?(${folders.join('|')})/`;
const npm = (...packages) => `(^|/)node_modules/(${packages.join('|')})(/|$)`;
const CLIENT = 'clients/typescript/src';
/** The packages, of which each could be published by itself. */
const PACKAGES = 'packages/[^/]+/src';
/** The files that packages export, by which alone others import them. */
const ENTRIES = readdirSync(`${__dirname}/packages`, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name }) =>
    Object.values(require(`./packages/${name}/package.json`).exports).map(
      ({ default: file }) => `packages/${name}/${file.replace(/^\.\/dist\/(.*)\.js$/, 'src/$1')}`,
    ),
  );
/** Packages of rules, which every layer may use. */
const PURE = 'packages/(tlog|payload-contract)/src|packages/egress/src/addresses';
const OURS = ours('src', 'workflows', 'activities', 'packages', CLIENT, 'web', 'test', 'bench', 'tools');
/** What Node.js itself brings. */
const NODE_MODULES = `^(node:)?(${require('node:module')
  .builtinModules.filter((name) => !name.startsWith('_'))
  .join('|')})$`;

const error = (name, comment, from, to) => ({ name, severity: 'error', comment, from, to });

module.exports = {
  forbidden: [
    error('no-cycles', 'Nothing may import itself through others.', { path: OURS }, { circular: true }),
    error('no-unresolved', 'Every import must lead somewhere.', { path: OURS }, { couldNotResolve: true }),
    error(
      'nothing-imports-test',
      'Tests use the code, never the other way round.',
      { pathNot: ours('test', 'packages/[^/]+/test', 'bench', 'tools') },
      { path: ours('test', 'packages/[^/]+/test') },
    ),
    error(
      'tools-import',
      'Tools import the code, the clients, and the support of tests and benchmarks; no test and no benchmark.',
      { path: ours('tools') },
      { path: OURS, pathNot: ours('tools', 'src', 'packages', 'clients', 'test/support', 'bench/support') },
    ),
    error(
      'only-tests-import-tools',
      'Tools are for those who work on the project: what runs does not need them.',
      { path: OURS, pathNot: ours('tools', 'test') },
      { path: ours('tools') },
    ),
    error(
      'domain-is-alone',
      'Domain rules import nothing of ours but packages of rules.',
      { path: ours('src/domain') },
      { path: OURS, pathNot: ours('src/domain', PURE) },
    ),
    {
      ...error(
        'shelves-have-an-order',
        'The folders of a layer import each other one way: whoever adds to one need not know the others.',
        { path: '^(dist/)?src/(domain|temporal|models|api)/' },
        { circular: true },
      ),
      scope: 'folder',
    },
    error(
      'pages-share-parts',
      'A page does not import one of another subject: what several show is in web/src/parts.',
      { path: '^web/src/pages/([^/]+)/' },
      { path: '^web/src/pages/', pathNot: '^web/src/pages/$1/' },
    ),
    error(
      'parts-know-no-page',
      'What several pages show knows none of them.',
      { path: '^web/src/(parts|shell|ui|api)/' },
      { path: '^web/src/pages/' },
    ),
    error(
      'read-knows-no-write',
      'Reading the ledger does not depend on writing to it.',
      { path: ours('src/temporal/read') },
      { path: ours('src/temporal/write') },
    ),
    error(
      'workflows-import-domain',
      'Workflows import domain rules, and types of activities.',
      { path: ours('workflows') },
      { path: OURS, pathNot: ours('workflows', 'src/domain', 'activities', PURE) },
    ),
    error(
      'workflows-import-activities-as-types',
      'Workflows may import activities by `import type` only: seen on the compiled files, where such imports are gone.',
      { path: '^dist/workflows/' },
      { path: '^dist/activities/' },
    ),
    error(
      'workflows-are-deterministic',
      'What is loaded into the workflow sandbox may use no Node module, however far away.',
      { path: '^dist/workflows/' },
      { path: NODE_MODULES, reachable: true },
    ),
    error(
      'workflow-packages',
      "Of packages, the workflow sandbox holds Temporal's workflow SDK alone.",
      { path: '^dist/workflows/' },
      { path: 'node_modules/', pathNot: npm('@temporalio/(workflow|common)'), reachable: true },
    ),
    error(
      'activities-import-domain',
      'Activities import domain rules, and the package that sends requests.',
      { path: ours('activities') },
      { path: OURS, pathNot: ours('activities', 'src/domain', PURE, 'packages/egress/src') },
    ),
    error(
      'models-import-domain',
      'Models import domain rules.',
      { path: ours('src/models') },
      { path: OURS, pathNot: ours('src/models', 'src/domain', PURE) },
    ),
    error(
      'temporal-imports-workflows',
      'Temporal is reached with domain rules and the definitions of workflows; activities are registered by the worker alone.',
      { path: ours('src/temporal') },
      {
        path: OURS,
        pathNot: [
          ours('src/temporal', 'src/domain', 'workflows', PURE),
          '/activities/index\\.[jt]s$',
          '^(dist/)?activities/index\\.[jt]s$',
        ],
      },
    ),
    error(
      'api-imports',
      'The HTTP interface imports domain, models, temporal and settings; never activities or workflows.',
      { path: ours('src/api') },
      {
        path: OURS,
        pathNot: ours('src/api', 'src/domain', 'src/models', 'src/temporal', 'src/config', PURE),
      },
    ),
    error(
      'config-imports-domain',
      'Settings import domain rules.',
      { path: ours('src/config') },
      { path: OURS, pathNot: ours('src/config', 'src/domain', PURE) },
    ),
    error(
      'packages-are-alone',
      'A package knows nothing of Hookline, and of other packages what it depends on: none yet.',
      { path: '^(?:dist/)?packages/([^/]+)/src/' },
      { path: OURS, pathNot: '^(dist/)?packages/$1/src/' },
    ),
    error(
      'packages-are-entered-by-their-exports',
      'Of a package others import what its package.json exports.',
      { path: OURS, pathNot: ours('packages') },
      { path: ours(PACKAGES), pathNot: `^(dist/)?(${ENTRIES.join('|')})\\.[jt]s$` },
    ),
    error(
      'tests-of-packages',
      'Tests of a package import it, and the support of tests.',
      { path: '^packages/([^/]+)/test/' },
      { path: OURS, pathNot: '^packages/$1/|^test/support/' },
    ),
    error(
      'servers-are-started-by-bin',
      'Only the command line starts servers.',
      { path: OURS, pathNot: ours('packages', 'src/bin', 'test', 'bench', 'tools') },
      { path: ours('packages/embedded-servers') },
    ),
    error(
      'client-is-alone',
      'The client package is installed without the service, in browsers too: it imports nothing of ours and no Node module.',
      { path: ours(CLIENT) },
      { path: [OURS, NODE_MODULES], pathNot: ours(CLIENT) },
    ),
    error(
      'commands-use-the-api',
      'Commands that use a server know it by its API, as any client: they import nothing of what serves it.',
      { path: ours('src/bin/client') },
      { path: ours('src/api', 'src/temporal', 'src/config', 'src/bin/service', 'workflows', 'activities') },
    ),
    error(
      'nothing-imports-web',
      'The web application is served as files.',
      { path: OURS, pathNot: ours('web', 'test') },
      { path: ours('web') },
    ),
    error(
      'demo-is-a-client',
      'The demo uses the public API, as any client.',
      { path: ours('src/demo') },
      { path: OURS, pathNot: ours('src/demo', 'src/domain', CLIENT, PURE) },
    ),
    error(
      'only-bin-imports-bin',
      'Composition roots are imported by nobody but each other, and tests.',
      { path: OURS, pathNot: ours('src/bin', 'test', 'bench', 'tools') },
      { path: ours('src/bin') },
    ),
    error(
      'mongoose-in-models',
      'Only models import mongoose.',
      { path: OURS, pathNot: ours('src/models', 'test', 'bench') },
      { path: npm('mongoose') },
    ),
    error(
      'koa-in-api',
      'Only the HTTP interface imports Koa.',
      { path: OURS, pathNot: ours('src/api', 'test', 'bench') },
      { path: npm('koa', '@koa') },
    ),
  ],
  options: {
    // TypeScript 7 has no compiler API in JavaScript, which the usual parser needs.
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    exclude: { path: 'workflow-bundle\\.js$|^(dist/)?web/dist/|^dist/bin/|^tools/docs-site/' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.cjs', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
