import { once } from 'node:events';
import { connect } from 'node:net';

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
