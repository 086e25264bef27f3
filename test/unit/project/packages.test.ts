import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  name: string;
  version: string;
  license: string;
  exports: Record<string, { types: string; default: string }>;
  dependencies?: Record<string, string>;
}

const read = (...path: string[]) => readFileSync(join(...path), 'utf8');
const manifestOf = (folder: string) => JSON.parse(read(folder, 'package.json')) as Manifest;
/** Packages that a source imports, without the path within a package. */
const IMPORTED = /(?:from |import\(|import )'(@[\w-]+\/[\w.-]+|[a-z][\w-][\w.-]*)(?:\/[^']*)?'/g;

const hookline = manifestOf('.');
const dockerfile = read('Dockerfile');

for (const name of readdirSync('packages', { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
)) {
  const folder = `packages/${name}`;
  const manifest = manifestOf(folder);

  describe(`the package ${name}`, () => {
    it('could be published as it is: a name, a version, a licence, a README', () => {
      equal(manifest.name, `@hookline/${name}`);
      equal(manifest.version, hookline.version);
      equal(manifest.license, hookline.license);
      match(read(folder, 'README.md'), new RegExp(`^# @hookline/${name}\n`));
    });

    it('exports what there is', () => {
      for (const { types, default: file } of Object.values(manifest.exports)) {
        equal(types, file.replace(/\.js$/, '.d.ts'));
        ok(existsSync(join(folder, file.replace('./dist/', 'src/').replace(/\.js$/, '.ts'))), file);
      }
    });

    it('depends on what it imports, in the versions of the whole', () => {
      const imported = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .flatMap((file) => [...read(folder, 'src', file).matchAll(IMPORTED)].map(([, each = '']) => each));
      const dependencies = manifest.dependencies ?? {};
      deepEqual([...new Set(imported)].sort(), Object.keys(dependencies).sort());
      for (const [each, version] of Object.entries(dependencies))
        equal(version, hookline.dependencies?.[each], each);
    });

    it('is installed where the image is built', () => {
      const line = `COPY ${folder}/package.json ${folder}/\n`;
      equal(dockerfile.split(line).length - 1, 2);
    });
  });
}
