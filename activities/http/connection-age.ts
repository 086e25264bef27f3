import type { Socket } from 'node:net';

/** What is known of a connection to an endpoint. */
interface Use {
  /** An exchange is under way on it. */
  isBusy: boolean;
  isOld: boolean;
}

const uses = new WeakMap<Socket, Use>();

/** Closes a connection once it has an age, milliseconds, or when the exchange is over that is under way on it then. */
export function limitAge(socket: Socket, ageMs: number): void {
  const use: Use = { isBusy: false, isOld: false };
  uses.set(socket, use);
  const timer = setTimeout(() => {
    use.isOld = true;
    if (!use.isBusy) socket.destroy();
  }, ageMs).unref();
  socket.once('close', () => clearTimeout(timer));
}

/** An exchange begins on a connection. */
export function beginUse(socket: Socket): void {
  const use = uses.get(socket);
  if (use) use.isBusy = true;
}

/** An exchange on a connection is over. */
export function endUse(socket: Socket): void {
  const use = uses.get(socket);
  if (!use) return;
  use.isBusy = false;
  if (use.isOld) socket.destroy();
}
