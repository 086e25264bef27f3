import type { SecretBox } from '../access/secret-box.js';
import type { ListenerRequest, ListenerResult } from './listener.js';

/**
 * How a worker hands a request to the process that holds a listener's stream: a POST, encrypted with the key that all
 * processes of an installation share. So it is authenticated and nobody on the way reads it, whatever lies between the
 * processes.
 */

/** Where a process takes such requests; the endpoint's id follows. */
export const RELAY_PATH = '/internal/listeners/';
/** Shows that the sender has the key, before anything else is read. */
export const RELAY_HEADER = 'hookline-relay';
/** How long a pass is valid, milliseconds. Clocks of one installation may differ by some seconds. */
const PASS_MS = 30_000;

const context = (endpointId: string, what: string) => `listener-relay:${endpointId}:${what}`;

/** Makes a pass. @param now milliseconds since the epoch */
export function newPass(box: SecretBox, endpointId: string, now: number): string {
  return box.seal(String(now + PASS_MS), context(endpointId, 'pass'));
}

/** Whether a pass was made by a process of this installation, for this endpoint, lately. */
export function readPass(box: SecretBox, endpointId: string, pass: string, now: number): boolean {
  try {
    return Number(box.open(pass, context(endpointId, 'pass'))) > now;
  } catch {
    return false; // sealed by another key, for another endpoint, or not at all
  }
}

interface Relayed {
  request: ListenerRequest;
  result: ListenerResult;
}

export function sealRelayed<What extends keyof Relayed>(
  box: SecretBox,
  endpointId: string,
  what: What,
  value: Relayed[What],
): string {
  return box.seal(JSON.stringify(value), context(endpointId, what));
}

/** @throws SealError if it was not sealed as that by a process of this installation */
export function openRelayed<What extends keyof Relayed>(
  box: SecretBox,
  endpointId: string,
  what: What,
  sealed: string,
): Relayed[What] {
  return JSON.parse(box.open(sealed, context(endpointId, what))) as Relayed[What];
}
