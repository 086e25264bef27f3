import { collectDefaultMetrics, Registry } from 'prom-client';
import { atMostEvery } from '../../../domain/basics/at-most-every.js';
import { boundedFetch } from '../../process/bounded-fetch.js';

/** How long the SDK may take to answer, milliseconds. It is in this process. */
const SDK_ANSWERS_WITHIN_MS = 1_000;
/** The most that is read of it, bytes. */
const MAX_SDK_BYTES = 16 * 1_024 * 1_024;
/** How often the page is made at most: it takes some 20 ms, and who asks need not prove who they are. Milliseconds. */
const PAGE_MS = 1_000;

/** Response of a process at `/metrics`. */
export type MetricsPage = ReturnType<typeof metricsPage>;

/**
 * The metrics of this process: what it counts itself, those of Node.js, and those of Temporal's SDK, which serves them
 * at an address of its own.
 *
 * @param refresh brings up to date what is read when it is asked for
 * @param sdkAddress `host:port`; absent if the SDK serves none
 */
export function metricsPage(
  registry: Registry,
  { refresh, sdkAddress }: { refresh?: () => Promise<void>; sdkAddress: string | undefined },
): { contentType: string; text(): Promise<string> } {
  return {
    contentType: registry.contentType,
    // Up to a second old, in the text format of Prometheus.
    text: atMostEvery(PAGE_MS, async () => {
      const [, sdk] = await Promise.all([refresh?.(), sdkAddress ? readSdk(sdkAddress) : '']);
      const parts = [await registry.metrics(), await ofProcess().metrics(), sdk];
      return `${parts.map((part) => part.trim()).join('\n\n')}\n`;
    }),
  };
}

let processRegistry: Registry | undefined;

/** Metrics of Node.js: one set for each process, however many services a test runs in it. */
function ofProcess(): Registry {
  if (!processRegistry) {
    processRegistry = new Registry();
    collectDefaultMetrics({ register: processRegistry });
  }
  return processRegistry;
}

const readFromSdk = boundedFetch(MAX_SDK_BYTES);

async function readSdk(address: string): Promise<string> {
  try {
    const response = await readFromSdk(`http://${reachable(address)}/metrics`, {
      signal: AbortSignal.timeout(SDK_ANSWERS_WITHIN_MS),
    });
    const text = await response.text();
    if (response.status === 200) return text;
  } catch {
    // This process's own counts are useful without the others.
  }
  return "# The metrics of Temporal's SDK could not be read.";
}

/** Where something is that listens on all addresses. */
function reachable(address: string): string {
  return address.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:');
}
