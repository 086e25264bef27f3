import { readFileSync } from 'node:fs';
import type { settingsSchema } from './schema.js';

/**
 * Settings that are secrets, or may have one in them. Each can stand in a file instead, which the setting of the same
 * name with `_FILE` names: what a process was started with, other users and tools of a machine see more easily than a
 * file.
 */
export const SECRET_SETTINGS = [
  'TEMPORAL_API_KEY',
  'MONGODB_URI',
  'HOOKLINE_KEYS_MONGODB_URI',
  'HOOKLINE_SECRET_KEYS',
  'HOOKLINE_PAYLOAD_KEYS',
  'HOOKLINE_WRAPPING_KEYS',
  'HOOKLINE_OIDC_CLIENT_SECRET',
  'HOOKLINE_LOG_KEY',
  'HOOKLINE_LOG_COPY',
  'HOOKLINE_LOG_TIMESTAMP_URL',
  'HOOKLINE_EGRESS_PROXY',
  'HOOKLINE_SMTP_URL',
  'HOOKLINE_ALERT_CHAT_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const satisfies (keyof typeof settingsSchema.shape)[];

/**
 * The environment with secrets in the place of the files that hold them.
 *
 * @param problem receives what is wrong with a file, or that a setting is given twice
 */
export function withSecretFiles(
  environment: NodeJS.ProcessEnv,
  problem: (text: string) => void,
): NodeJS.ProcessEnv {
  const read: NodeJS.ProcessEnv = { ...environment };
  for (const name of SECRET_SETTINGS) {
    const fileName = `${name}_FILE`;
    const path = read[fileName];
    delete read[fileName];
    if (!path) continue;
    if (read[name]) {
      problem(`${name}, ${fileName}: set one of them`);
      continue;
    }
    try {
      read[name] = readFileSync(path, 'utf8').trim();
      if (!read[name]) problem(`${fileName}: ${path} is empty`);
    } catch (error) {
      problem(`${fileName}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
    }
  }
  return read;
}
