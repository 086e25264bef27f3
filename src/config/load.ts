import { missingForOidc } from './oidc-settings.js';
import { type Settings, settingsSchema } from './schema.js';
import { withSecretFiles } from './secret-files.js';

/** The environment holds a setting that cannot be used. The message names each, and what to change. */
export class SettingsError extends Error {
  /** As they are shown. */
  readonly lines: readonly string[];

  constructor(problems: readonly string[]) {
    const lines = ['These settings cannot be used:', ...problems.map((problem) => `  ${problem}`)];
    super(lines.join('\n'));
    this.name = 'SettingsError';
    this.lines = lines;
  }
}

/**
 * Variables of the commands that use a server (`hookline trigger` and others). People export them where they run
 * a server, too.
 */
const OF_CLIENTS = ['HOOKLINE_URL', 'HOOKLINE_API_KEY', 'HOOKLINE_ACCOUNT', 'HOOKLINE_OUTBOX_URI'];
const KNOWN = new Set([...Object.keys(settingsSchema.shape), ...OF_CLIENTS]);

/**
 * Reads the settings. Nothing else reads the environment.
 *
 * @throws SettingsError where a value is not valid, or lacks another one that it needs, a file of a secret cannot be
 * read, or a name that begins with `HOOKLINE_` is not known
 */
export function loadSettings(environment: NodeJS.ProcessEnv = process.env): Settings {
  const problems: string[] = [];
  const complete = withSecretFiles(environment, (text) => problems.push(text));
  const unknown = Object.keys(complete)
    .filter((name) => name.startsWith('HOOKLINE_') && !name.startsWith('HOOKLINE_DEMO_') && !KNOWN.has(name))
    .map((name) => `${name}: there is no such setting`);
  const given = Object.fromEntries(Object.entries(complete).filter(([, value]) => value !== ''));
  const parsed = settingsSchema.safeParse(given);
  const invalid = parsed.success
    ? missingForOidc(parsed.data)
    : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  problems.push(...unknown, ...invalid);
  if (!parsed.success || problems.length > 0) throw new SettingsError(problems);
  return parsed.data;
}
