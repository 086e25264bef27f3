import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

/** Writes the style of the pages that the service makes without scripts: the same colours, in one file whose name does not change. */
export function pageStyle(): Plugin {
  const styles = ['tokens.css', 'pages.css'].map((name) => join(import.meta.dirname, 'src/styles', name));
  return {
    name: 'hookline-page-style',
    apply: 'build',
    generateBundle() {
      const text = styles.map((path) => readFileSync(path, 'utf8')).join('\n');
      const source = text
        .replace(/\/\*.*?\*\//gs, '')
        .replace(/\s+/g, ' ')
        .trim();
      this.emitFile({ type: 'asset', fileName: 'pages.css', source });
    },
  };
}
