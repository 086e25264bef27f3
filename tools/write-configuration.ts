import { readFileSync, writeFileSync } from 'node:fs';
import { configurationTable } from './configuration-table.js';

/** Writes the settings' table into `docs/configuration.md`: `npm run docs`. */
const FILE = 'docs/configuration.md';
const text = readFileSync(FILE, 'utf8');
writeFileSync(FILE, text.replace(/\| Name \|[\s\S]*?(?=\n\n|\n*$)/, configurationTable()));
