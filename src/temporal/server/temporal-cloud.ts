/** Calls that list or count which a namespace of Temporal Cloud has room for in a second; it cannot be changed. */
export const CLOUD_VISIBILITY_PER_SECOND = 30;
/**
 * Calls that a cluster of one's own is to be configured for: `frontend.namespaceRPS.visibility` in
 * `deploy/temporal/dynamic-config.yaml`.
 */
const OWN_VISIBILITY_PER_SECOND = 1_000;

/** Whether an address is one of Temporal Cloud: of a namespace, of a region, or of a private link. */
export function isTemporalCloud(address: string): boolean {
  return /\.(?:tmprl\.cloud|api\.temporal\.io)(?::\d+)?$/.test(address);
}

/**
 * How many calls that list or count a server has room for in a second, as its address tells.
 *
 * @param address `host:port`
 */
export function visibilityRoom(address: string): number {
  return isTemporalCloud(address) ? CLOUD_VISIBILITY_PER_SECOND : OWN_VISIBILITY_PER_SECOND;
}
