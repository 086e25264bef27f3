import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { childEnvironment, findTemporalCli, LOOPBACK } from '../../../packages/embedded-servers/src/index.js';
import type { Settings } from '../../config/schema.js';
import type { SecretKey } from '../../domain/access/secret-box.js';
import { loadOrCreateKeys } from '../process/secrets.js';
import { startCodecServer } from './codec-server.js';

/**
 * Runs Temporal's own command line on Hookline's server and namespace. What it prints and its exit code are its own.
 *
 * Payloads that Hookline has encrypted are shown decrypted, if its keys are known here.
 *
 * @param args as they were typed: `workflow list --query "HooklineStatus = 'retrying'"`
 */
export async function temporal(settings: Settings, args: readonly string[]): Promise<void> {
  const binary = await findTemporalCli((line) => process.stderr.write(`${line}\n`));
  const keys = settings.HOOKLINE_PAYLOAD_KEYS ?? (await keysOfDev(settings));
  const codec = keys && (await startCodecServer(keys));
  const child = spawn(binary, args, {
    stdio: 'inherit',
    // In its environment, because other users of the machine can read arguments of programs.
    env: {
      ...(codec && { TEMPORAL_CODEC_ENDPOINT: codec.url, TEMPORAL_CODEC_AUTH: codec.authorization }),
      ...childEnvironment(['TEMPORAL_*']),
      ...temporalEnvironment(settings),
    },
  });
  // Ctrl-C reaches both; the exit code is that of the child.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, 'close');
  codec?.close();
  process.exitCode = typeof code === 'number' ? code : 1;
}

/** The keys that `hookline dev` has made for its own servers. */
async function keysOfDev({
  TEMPORAL_ADDRESS,
  HOOKLINE_DATA_DIR,
}: Settings): Promise<SecretKey[] | undefined> {
  if (TEMPORAL_ADDRESS !== undefined || !existsSync(HOOKLINE_DATA_DIR)) return undefined;
  return loadOrCreateKeys(HOOKLINE_DATA_DIR, 'payload.keys');
}

/**
 * How Temporal's command line finds its server, by settings of the same names:
 * https://docs.temporal.io/cli#environment-variables
 */
function temporalEnvironment(settings: Settings): Record<string, string> {
  const { TEMPORAL_ADDRESS = `${LOOPBACK}:${settings.HOOKLINE_TEMPORAL_PORT}` } = settings;
  const given = Object.entries({ ...settings, TEMPORAL_ADDRESS, TEMPORAL_UI_URL: undefined });
  const named = given.filter(([name, value]) => name.startsWith('TEMPORAL_') && value !== undefined);
  return Object.fromEntries(named.map(([name, value]) => [name, String(value)]));
}
