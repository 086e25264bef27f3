/**
 * Calls that a process has made to Temporal so far, by operation, as the SDK counts them; without long polls and the
 * worker's signs of life.
 *
 * @param address where the SDK serves its metrics: `HOOKLINE_TEMPORAL_METRICS_ADDRESS` of that process
 */
export async function countCalls(address: string): Promise<Map<string, number>> {
  const text = await (await fetch(`http://${address}/metrics`)).text();
  const counts = new Map<string, number>();
  for (const line of text.split('\n')) {
    const match = /^temporal_request(?:_total)?\{(.*)\} (\d+)/.exec(line);
    const operation = /operation="(\w+)"/.exec(match?.[1] ?? '')?.[1];
    if (!operation || operation.startsWith('Poll') || /Heartbeat$/.test(operation)) continue;
    counts.set(operation, (counts.get(operation) ?? 0) + Number(match?.[2]));
  }
  return counts;
}
