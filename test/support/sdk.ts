import { Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { installRuntime } from '../../src/temporal/server/connection.js';
import { warnings } from './warnings.js';

/** Sets Temporal's SDK up in this process, once. */
export function installSdk(): void {
  installRuntime(pino({ level: 'warn' }, warnings), undefined);
}

/**
 * The SDK ends its runtime with the last connection; where this process had none, it would keep the process from
 * ending.
 */
export async function endSdk(): Promise<void> {
  await Runtime.instance().shutdown();
}
