import { Runtime } from '@temporalio/worker';
import { type DestinationStream, pino } from 'pino';
import { installRuntime } from '../../src/temporal/server/connection.js';

/** Sets Temporal's SDK up in this process, once. @param warnings where what it warns of is written */
export function installSdk(warnings: DestinationStream): void {
  installRuntime(pino({ level: 'warn' }, warnings), undefined);
}

/**
 * The SDK ends its runtime with the last connection; where this process had none, it would keep the process from
 * ending.
 */
export async function endSdk(): Promise<void> {
  await Runtime.instance().shutdown();
}
