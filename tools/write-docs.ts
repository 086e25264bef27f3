import { readFileSync, writeFileSync } from 'node:fs';
import { collectionsTable } from './collections.js';
import { chartSettings, configurationTable, problemTable } from './docs-tables.js';

/**
 * Writes the tables of settings, errors and collections into `docs/configuration.md`, `docs/errors.md` and
 * `docs/collections.md`, and the names that the Helm chart takes: `npm run docs`.
 */
replaceTable('docs/configuration.md', configurationTable());
replaceTable('docs/errors.md', problemTable());
replaceTable('docs/collections.md', collectionsTable());
writeFileSync('deploy/helm/hookline/settings.json', chartSettings());

/** Puts the table where one with the same head stands. */
function replaceTable(file: string, table: string): void {
  const text = readFileSync(file, 'utf8');
  const [head = ''] = table.split('\n');
  const start = text.indexOf(head);
  const rest = text.slice(start).replace(/^(\|.*(\n|$))+/, '');
  writeFileSync(file, `${text.slice(0, start)}${table}\n${rest}`);
}
