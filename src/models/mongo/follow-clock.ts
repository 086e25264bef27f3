import type { Connection } from 'mongoose';
import { mongodbClock } from '../../domain/time/shared-time.js';

/** Connections whose server tells its time. */
let followed = 0;

/**
 * Reads the time of a connection's server: now, and from each of the driver's heartbeats, which are a second apart and
 * say it anyway (`localTime`, https://www.mongodb.com/docs/manual/reference/command/hello/).
 */
export async function followClock(connection: Connection): Promise<void> {
  const client = connection.getClient();
  const read = ({ localTime, secondary }: Record<string, unknown>) => {
    if (localTime instanceof Date && secondary !== true) mongodbClock.read(localTime.getTime());
  };
  const beat = ({ reply }: { reply: Record<string, unknown> }) => read(reply);
  client.on('serverHeartbeatSucceeded', beat);
  followed += 1;
  connection.once('close', () => {
    client.off('serverHeartbeatSucceeded', beat);
    followed -= 1;
    if (followed === 0) mongodbClock.forget();
  });
  read((await connection.db?.admin().command({ hello: 1 })) ?? {});
}
