/**
 * Bundles the command line into `dist/bin`: finding, reading and linking two thousand modules takes a sixth of the time
 * until a service is ready (`docs/decisions/0005-embedded-servers.md`). A part that is loaded later, such as a command,
 * stays a file of its own.
 */
import { readFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { build } from 'esbuild';

const OUT = 'dist/bin';
/** Loaded as they are: they find files of their own, or must be the same for the threads that Temporal's SDK starts. */
const EXTERNAL = [
  '@temporalio/*',
  'nexus-rpc',
  '@grpc/grpc-js',
  'mongodb-memory-server-core',
  'pino',
  'piscina',
];
/** Names by which a module finds files beside itself. */
const OWN_PLACE = /\b(__dirname|require\.resolve|import\.meta\.(url|dirname|filename))\b/;

/**
 * Declares `moduleMeta`: the `import.meta` of a compiled file, seen from the bundle. In one line, so that the lines of
 * the module stay.
 */
const declareMeta = (compiled) =>
  "import { fileURLToPath as pathOfModule } from 'node:url';" +
  `const moduleUrl = new URL(${JSON.stringify(relative(OUT, compiled))}, import.meta.url);` +
  "const moduleMeta = { url: moduleUrl.href, filename: pathOfModule(moduleUrl), dirname: pathOfModule(new URL('.', moduleUrl)) };";

/** A module of ours that looks for files beside itself finds them beside its compiled file. */
const places = {
  name: 'places',
  setup({ onLoad }) {
    onLoad({ filter: /\.[cm]?[jt]s$/ }, async ({ path }) => {
      const contents = await readFile(path, 'utf8');
      if (!OWN_PLACE.test(contents)) return undefined;
      if (path.includes('node_modules'))
        return { errors: [{ text: `${path} looks for files beside itself: make it external` }] };
      const compiled = resolve('dist', relative('', path)).replace(/\.ts$/, '.js');
      return {
        contents: declareMeta(compiled) + contents.replaceAll('import.meta.', 'moduleMeta.'),
        loader: path.endsWith('.ts') ? 'ts' : 'js',
      };
    });
  },
};

await build({
  entryPoints: ['src/bin/hookline.ts'],
  outdir: OUT,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  sourcemap: true,
  sourcesContent: false,
  // Libraries tell classes by their names, and what stands in a log is called as in the sources.
  keepNames: true,
  external: EXTERNAL,
  mainFields: ['module', 'main'],
  // CommonJS packages ask for modules of Node.js by `require`, which ES modules do not have.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  plugins: [places],
  logLevel: 'warning',
});
