import { join, resolve } from 'node:path';
import { Hookline } from '../../clients/typescript/src/index.js';
import type { Settings } from '../config/schema.js';
import { loadOrCreateAuthority } from '../demo/certificates.js';
import { runPurchase } from '../demo/purchase.js';
import { deleteAbandoned, registerSubscriber } from '../demo/resident.js';
import { readDemoState } from '../demo/state.js';
import { parseDuration } from '../domain/basics/duration.js';
import { print } from './client/terminal.js';
import { boundedRequest } from './process/bounded-fetch.js';
import { stopSignal } from './process/stop.js';

/** So that retries can be watched: much shorter than the default. */
const DEMO_SCHEDULE = ['1s', '2s', '3s', '4s'];

/**
 * Sends one purchase through a running `hookline dev` to a subscriber of its own, which can be made to misbehave:
 * `--fail 2` answers 500 twice, `--slow 6s` takes that long each time, `--refuse` closes every connection.
 * `--schedule 1s,2s` sets the waits.
 */
export async function demo(settings: Settings, values: Record<string, unknown>): Promise<void> {
  const dataDir = resolve(settings.HOOKLINE_DATA_DIR);
  const state = await readDemoState(dataDir);
  if (!state)
    throw new Error('No system has been started here yet. Run `npm start` first, and leave it running.');
  const { api_url: apiUrl, api_key: token } = state;
  await boundedRequest(`${apiUrl}/healthz`).catch(() => {
    throw new Error(`Nothing responds at ${apiUrl}. Run \`npm start\` first, and leave it running.`);
  });

  const failFirst = values['fail'] === undefined ? undefined : Number(values['fail']);
  if (failFirst !== undefined && !(Number.isInteger(failFirst) && failFirst >= 0))
    throw new Error('--fail takes a number of attempts, such as --fail 2');
  const hookline = new Hookline({ url: apiUrl, token, fetch: boundedRequest });
  await deleteAbandoned(hookline);
  const stopped = stopSignal();
  const subscriber = await registerSubscriber({
    hookline,
    authority: await loadOrCreateAuthority(join(dataDir, 'demo')),
    behaviour: {
      ...(failFirst !== undefined && { failFirst }),
      ...(values['slow'] !== undefined && { slowMs: parseDuration(String(values['slow'])) }),
      ...(values['refuse'] === true && { refuse: true }),
    },
    retrySchedule: values['schedule'] === undefined ? DEMO_SCHEDULE : String(values['schedule']).split(','),
  });
  try {
    await runPurchase({
      hookline,
      apiUrl,
      temporalUiUrl: state.temporal_ui_url,
      namespace: settings.TEMPORAL_NAMESPACE,
      subscriber,
      say: print,
      signal: stopped,
    });
  } catch (error) {
    if (!stopped.aborted) throw error;
    print('Stopped.');
  } finally {
    const params = { path: { id: subscriber.registration.endpoint_id } };
    await hookline.delete('/v18.0/endpoints/{id}', { params });
    await subscriber.close();
  }
}
