import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { childEnvironment, findTemporalCli, LOOPBACK } from '../../../packages/embedded-servers/src/index.js';
import type { Settings } from '../../config/schema.js';

/**
 * Runs Temporal's own command line on Hookline's server and namespace. Output and exit code are those of the program.
 *
 * @param args as they were typed: `workflow list --query "HooklineStatus = 'retrying'"`
 */
export async function temporal(settings: Settings, args: readonly string[]): Promise<void> {
  const binary = await findTemporalCli((line) => process.stderr.write(`${line}\n`));
  const child = spawn(binary, args, {
    stdio: 'inherit',
    env: { ...childEnvironment(['TEMPORAL_*']), ...temporalEnvironment(settings) },
  });
  // Ctrl-C reaches both; the exit code is that of the child.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, 'close');
  process.exitCode = typeof code === 'number' ? code : 1;
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
