import { join, resolve } from 'node:path';
import type { Settings } from '../config/schema.js';
import { callApi } from '../demo/api.js';
import { loadOrCreateAuthority } from '../demo/certificates.js';
import { runPurchase } from '../demo/purchase.js';
import { registerSubscriber } from '../demo/resident.js';
import { readDemoState } from '../demo/state.js';
import { parseDuration } from '../domain/basics/duration.js';
import { say } from './process/output.js';

/** So that retries can be watched: much shorter than the default. */
const DEMO_SCHEDULE = ['1s', '2s', '3s', '4s'];

/**
 * Sends one purchase through a running `hookline dev` to a subscriber of its own, which can be made to misbehave: `--fail 2` answers
 * 500 twice, `--slow 6s` takes that long each time, `--refuse` closes every connection. `--schedule 1s,2s` sets the waits.
 */
export async function demo(settings: Settings, values: Record<string, unknown>): Promise<void> {
  const dataDir = resolve(settings.HOOKLINE_DATA_DIR);
  const state = await readDemoState(dataDir);
  if (!state?.api_url)
    throw new Error('No system has been started here yet. Run `npm start` first, and leave it running.');
  const access = { apiUrl: state.api_url, apiKey: state.api_key };
  await fetch(`${access.apiUrl}/healthz`).catch(() => {
    throw new Error(`Nothing answers at ${access.apiUrl}. Run \`npm start\` first, and leave it running.`);
  });

  const failFirst = values['fail'] === undefined ? undefined : Number(values['fail']);
  if (failFirst !== undefined && !(Number.isInteger(failFirst) && failFirst >= 0))
    throw new Error('--fail takes a number of attempts, such as --fail 2');
  const subscriber = await registerSubscriber({
    ...access,
    authority: await loadOrCreateAuthority(join(dataDir, 'demo')),
    description: 'npm run demo',
    behaviour: {
      ...(failFirst !== undefined && { failFirst }),
      ...(values['slow'] !== undefined && { slowMs: parseDuration(String(values['slow'])) }),
      ...(values['refuse'] === true && { refuse: true }),
    },
    retrySchedule: values['schedule'] === undefined ? DEMO_SCHEDULE : String(values['schedule']).split(','),
  });
  try {
    await runPurchase({
      ...access,
      temporalUiUrl: state.temporal_ui_url,
      namespace: settings.TEMPORAL_NAMESPACE,
      subscriber,
      say,
    });
  } finally {
    await callApi(access, 'DELETE', `/v18.0/endpoints/${subscriber.registration.endpoint_id}`);
    await subscriber.close();
  }
}
