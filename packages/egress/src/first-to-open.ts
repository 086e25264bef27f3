import type { Socket } from 'node:net';
import type { ResolvedAddress } from './names/name-answer.js';

/**
 * The most addresses of one name that an attempt tries: the owner of a name must not make this service connect to
 * thousands.
 */
const MAX_TRIED = 8;

/** Opens a connection to one address. @param signal ends when it is not wanted any more */
export type OpenConnection = (address: ResolvedAddress, signal: AbortSignal) => Promise<Socket>;

/** A connection, and where it leads. */
export interface Opened {
  socket: Socket;
  address: string;
}

/**
 * Opens a connection to one of several addresses of a name, by RFC 8305, section 5 ("Happy Eyeballs"): the families in
 * turns, IPv6 first; the next address when one fails, and at the latest after `nextAfterMs`, while those before may
 * still open. The first one that opens is taken. Node.js's own way (`autoSelectFamily`) gives up each address after
 * that time, so that a slow one is never reached.
 *
 * @param signal ends all of it
 * @throws the error that tells most, if no address is left; the reason of `signal`
 */
export function firstToOpen(
  addresses: readonly ResolvedAddress[],
  open: OpenConnection,
  { nextAfterMs, signal }: { nextAfterMs: number; signal: AbortSignal },
): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const untried = inTurns(addresses).slice(0, MAX_TRIED);
    const errors: unknown[] = [];
    const losers = new AbortController();
    let opening = 0;
    let timer: NodeJS.Timeout | undefined;
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
      losers.abort();
    };
    const aborted = () => {
      end();
      reject(signal.reason);
    };
    const failed = (error: unknown) => {
      errors.push(error);
      opening -= 1;
      if (losers.signal.aborted) return;
      if (untried.length > 0) return next();
      if (opening > 0) return;
      end();
      reject(mostTelling(errors));
    };
    const next = () => {
      clearTimeout(timer);
      const address = untried.shift();
      if (!address) return;
      if (untried.length > 0) timer = setTimeout(next, nextAfterMs);
      opening += 1;
      open(address, losers.signal).then((socket) => {
        if (losers.signal.aborted) return void socket.destroy();
        end();
        resolve({ socket, address: address.address });
      }, failed);
    };
    if (signal.aborted) return aborted();
    signal.addEventListener('abort', aborted);
    next();
  });
}

/** One of each family after the other, IPv6 first (RFC 8305, section 4). */
function inTurns(addresses: readonly ResolvedAddress[]): ResolvedAddress[] {
  const v6 = addresses.filter(({ family }) => family === 6);
  const v4 = addresses.filter(({ family }) => family !== 6);
  return Array.from({ length: Math.max(v6.length, v4.length) }, (_, index) => [v6[index], v4[index]])
    .flat()
    .filter((address) => address !== undefined);
}

/** Errors of this machine's own network. They say nothing about the endpoint if another address was reached. */
const NO_WAY = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']);

function mostTelling(errors: readonly unknown[]): unknown {
  return errors.find((error) => !NO_WAY.has(String((error as NodeJS.ErrnoException).code))) ?? errors[0];
}
