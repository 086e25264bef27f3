import type { Socket } from 'node:net';

/** The greatest age of a connection where nothing else is said, milliseconds. */
const MAX_AGE_MS = 300_000;
/**
 * A connection lasts so long at least, milliseconds, whatever the TTL: a name with a TTL of 0 would cost a handshake
 * for each event.
 */
const MIN_AGE_MS = 10_000;

/**
 * How long a connection may be used, milliseconds.
 *
 * @param expiresAt until when its name's addresses are good, by `performance.now()`; `undefined` if that is not known
 * @param mostMs the most that is allowed; default: five minutes
 */
export function greatestAge(expiresAt: number | undefined, mostMs = MAX_AGE_MS): number {
  const goodForMs = expiresAt === undefined ? mostMs : Math.max(MIN_AGE_MS, expiresAt - performance.now());
  return Math.min(goodForMs, mostMs);
}

/** State of a connection to an endpoint. */
interface Use {
  /** Where it leads, also behind a proxy. */
  address: string;
  /** An exchange is under way on it. */
  isBusy: boolean;
  isOld: boolean;
}

const uses = new WeakMap<Socket, Use>();

/**
 * Notes where a connection leads, and closes it once it has an age, milliseconds, or when the exchange is over that is
 * under way on it then.
 */
export function limitAge(socket: Socket, address: string, ageMs: number): void {
  const use: Use = { address, isBusy: false, isOld: false };
  uses.set(socket, use);
  const timer = setTimeout(() => {
    use.isOld = true;
    if (!use.isBusy) socket.destroy();
  }, ageMs).unref();
  socket.once('close', () => clearTimeout(timer));
}

/** An exchange begins on a connection. @returns where it leads */
export function beginUse(socket: Socket): string | undefined {
  const use = uses.get(socket);
  if (use) use.isBusy = true;
  return use?.address;
}

/** An exchange on a connection is over. */
export function endUse(socket: Socket): void {
  const use = uses.get(socket);
  if (!use) return;
  use.isBusy = false;
  if (use.isOld) socket.destroy();
}
