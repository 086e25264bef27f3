import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { PortTakenError } from '../errors.js';

/** The only address the embedded servers listen on: they ask nobody for a password. */
export const LOOPBACK = '127.0.0.1';

/**
 * The port to use: the wanted one, or a free one when it is 0.
 *
 * @param setting - environment variable that changes this port, for the error
 * @param purpose - what listens there, for the error
 * @throws {@link PortTakenError} when the wanted port cannot be listened on
 */
export async function claimPort(wanted: number, setting: string, purpose: string): Promise<number> {
  if (wanted === 0) return freePort();
  try {
    await tryListening(wanted);
  } catch (cause) {
    throw new PortTakenError(wanted, setting, purpose, cause);
  }
  return wanted;
}

/**
 * A port nobody listens on. It is taken from below the range that operating systems give to outgoing connections,
 * so that none of those can occupy it before the server does.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = randomInt(20_000, 32_000);
    try {
      await tryListening(port);
      return port;
    } catch (error) {
      if (attempt === 50) throw error;
    }
  }
}

/**
 * An address of this machine that no page finds by trying: one of the 16 million of `127.0.0.0/8`, where the system has
 * them, as Linux does; else {@link LOOPBACK}.
 */
export async function hiddenAddress(): Promise<string> {
  const address = `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
  return tryListening(0, address).then(
    () => address,
    () => LOOPBACK,
  );
}

function tryListening(port: number, host = LOOPBACK): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve()));
  });
}
