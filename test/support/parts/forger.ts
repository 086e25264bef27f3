import mongoose from 'mongoose';
import { requireBoxes } from '../../../src/bin/process/secrets.js';
import { connectDatabase } from '../../../src/models/database.js';
import { runHere } from '../programs/command.js';
import { startSystem } from '../system.js';
import type { StoredDocument } from './stored-rows.js';

/** Somebody who has the MongoDB of a system alone. */
export type Forger = Awaited<ReturnType<typeof startForger>>;

/** Starts a system, and a connection of somebody who has its MongoDB alone. */
export async function startForger() {
  const system = await startSystem();
  const { environment, settings } = system;
  const { MONGODB_URI: uri = '' } = environment;
  const connection = await mongoose.createConnection(uri).asPromise();
  return {
    system,
    collection: (name: string) => connection.collection<StoredDocument>(name),
    /** The database as a process has it that remembers nothing, and tells nobody of anything. */
    another: (other = settings) => connectDatabase(uri, requireBoxes(other)),
    /** Output of `hookline records verify` about an id. */
    async said(id: string, overrides: Record<string, string> = {}): Promise<string> {
      const output = await runHere('records', { ...environment, ...overrides }, ['verify']).catch(
        ({ stdout }: { stdout: string }) => stdout,
      );
      return output.split('\n').find((line) => line.startsWith(`${id}  `)) ?? '';
    },
    async stop(): Promise<void> {
      await connection.close();
      await system.stop();
    },
  };
}
