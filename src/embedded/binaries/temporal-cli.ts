import { userCacheDir } from '../cache-dir.js';
import type { Report } from '../types.js';
import { findBinary } from './find-binary.js';
import { waysToTemporal } from './temporal-binary.js';

/** Temporal's command line on this machine. One that has to be downloaded or built is reported, for it takes minutes. @throws EmbeddedUnavailableError */
export async function findTemporalCli(report: Report): Promise<string> {
  const ways = waysToTemporal(userCacheDir(), report);
  for (const way of ways) {
    const binary = await way.kept();
    if (binary !== undefined) return binary;
  }
  return (await findBinary('Temporal', 'its command line is needed', ways, report)).binary;
}
