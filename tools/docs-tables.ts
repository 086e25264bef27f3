import { z } from 'zod';
import { settingsSchema } from '../src/config/schema.js';
import { SECRET_SETTINGS } from '../src/config/secret-files.js';
import { formatDuration } from '../src/domain/basics/duration.js';
import { DEFAULT_RETRY_SCHEDULE } from '../src/domain/endpoint/retry-schedule.js';
import { PROBLEMS } from '../src/domain/http/problems.js';

/** The table of `docs/configuration.md`: a row for each setting, in the order of the schema. */
export function configurationTable(): string {
  const { properties = {} } = z.toJSONSchema(settingsSchema, { io: 'input', unrepresentable: 'any' });
  const parsed = settingsSchema.parse({}) as Record<string, unknown>;
  const rows = Object.entries(settingsSchema.shape).map(([name, { description = '' }]) => {
    const schema = properties[name];
    const byInput = typeof schema === 'object' ? schema.default : undefined;
    const fallback = typeof parsed[name] === 'boolean' ? parsed[name] : '';
    const value = name === 'HOOKLINE_RETRY_SCHEDULE' ? SCHEDULE : (byInput ?? fallback);
    return `| \`${name}\` | ${value === '' ? '' : `\`${value}\``} | ${description} |`;
  });
  return ['| Name | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}

const SCHEDULE = DEFAULT_RETRY_SCHEDULE.map(formatDuration).join(',');

/** The names that the Helm chart takes for settings and for secrets, `deploy/helm/hookline/settings.json`. */
export function chartSettings(): string {
  const secrets = new Set<string>(SECRET_SETTINGS);
  const settings = Object.keys(settingsSchema.shape).filter((name) => !secrets.has(name));
  return `${JSON.stringify({ settings, secrets: [...secrets] }, null, 2)}\n`;
}

/** The table of `docs/errors.md`: a row for each code, in the order of the statuses. */
export function problemTable(): string {
  const rows = Object.entries(PROBLEMS).map(
    ([code, [status, title, advice]]) => `| \`${code}\` | ${status} | ${title} | ${advice} |`,
  );
  return ['| Code | Status | Title | What to do |', '|---|---|---|---|', ...rows].join('\n');
}
