import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** A port that nobody listens on, for a process that another one is to take over from. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Whether something listens at an address, `host:port`. */
export async function isListening(address: string): Promise<boolean> {
  const { hostname: host, port } = new URL(`tcp://${address}`);
  const socket = connect({ host, port: Number(port) });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
