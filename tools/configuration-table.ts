import { settingsSchema } from '../src/config/schema.js';
import { formatDuration } from '../src/domain/duration.js';

/** The table of `docs/configuration.md`: a row for each setting, in the order of the schema. */
export function configurationTable(): string {
  const defaults = settingsSchema.parse({}) as Record<string, unknown>;
  const rows = Object.entries(settingsSchema.shape).map(([name, { description = '' }]) => {
    const value = written(name, defaults[name]);
    return `| \`${name}\` | ${value === '' ? '' : `\`${value}\``} | ${description} |`;
  });
  return ['| Name | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}

/** Settings of the schema that are durations: read as text, kept in milliseconds. */
const DURATIONS = /_(TIMEOUT|LIMIT)$/;

function written(name: string, value: unknown): string {
  if (value === undefined) return '';
  if (Array.isArray(value))
    return value.map((part) => (typeof part === 'number' ? formatDuration(part) : part)).join(',');
  return typeof value === 'number' && DURATIONS.test(name) ? formatDuration(value) : String(value);
}
