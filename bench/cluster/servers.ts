import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { freePort, LOOPBACK, startServer } from '../../packages/embedded-servers/src/index.js';
import { type BenchServers, startServers, type TemporalStarter } from '../support/system.js';
import { DATABASE_PASSWORD, DATABASE_USER, type Postgresql, startPostgresql } from './postgresql.js';
import { type TemporalPrograms, temporalPrograms } from './programs.js';

/** Temporal's databases, and the folder of each one's tables in the tool. */
const DATABASES = [
  ['temporal', 'postgresql/v12/temporal'],
  ['temporal_visibility', 'postgresql/v12/visibility'],
] as const;
/** Ports of the server, as its environment calls them; the first is what clients use. */
const PORTS = [
  ...['FRONTEND_MEMBERSHIP_PORT', 'FRONTEND_HTTP_PORT'],
  ...['MATCHING_GRPC_PORT', 'MATCHING_MEMBERSHIP_PORT', 'HISTORY_GRPC_PORT', 'HISTORY_MEMBERSHIP_PORT'],
  ...['WORKER_GRPC_PORT', 'WORKER_MEMBERSHIP_PORT'],
];

/** The servers of a cluster: Temporal's own over PostgreSQL, and MongoDB. */
export interface ClusterServers extends BenchServers {
  postgresql: Postgresql;
}

/**
 * Starts what docker-compose.yml starts, without containers: Temporal's server with the settings of its image and of
 * deploy/temporal, over PostgreSQL. MongoDB is the embedded one, or the server at `TEST_MONGODB_URI`.
 */
export async function startClusterServers(report: (line: string) => void): Promise<ClusterServers> {
  const programs = await temporalPrograms(report);
  const postgresql = await startPostgresql(report);
  try {
    await makeTables(programs, postgresql);
    const servers = await startServers(report, {
      temporal: await temporalOver(postgresql, programs.server),
      mongodbUri: process.env['TEST_MONGODB_URI'],
    });
    return {
      ...servers,
      postgresql,
      async stop() {
        await servers.stop();
        await postgresql.stop();
      },
    };
  } catch (error) {
    await postgresql.stop();
    throw error;
  }
}

/** Makes Temporal's databases, as deploy/temporal/schema.sh does. */
async function makeTables({ sqlTool }: TemporalPrograms, { port }: Postgresql): Promise<void> {
  for (const [database, schema] of DATABASES) {
    const tool = (...args: string[]) =>
      promisify(execFile)(sqlTool, ['--db', database, ...args], {
        env: {
          SQL_PLUGIN: 'postgres12',
          SQL_HOST: LOOPBACK,
          SQL_PORT: String(port),
          SQL_USER: DATABASE_USER,
          SQL_PASSWORD: DATABASE_PASSWORD,
        },
      });
    await tool('create');
    await tool('setup-schema', '-v', '0.0');
    await tool('update-schema', '--schema-name', schema);
  }
}

/** Temporal's server over PostgreSQL; its environment is that of the image in docker-compose.yml. */
async function temporalOver({ port: databasePort }: Postgresql, binary: string): Promise<TemporalStarter> {
  const ports = new Map<string, number>();
  // The same after a restart: the others would look for it where it was.
  for (const name of PORTS) ports.set(name, await freePort());
  return async ({ dataDir, port, report }) => {
    const server = await startServer({
      service: 'Temporal',
      binary,
      // No file is read from there: it tells this server from others.
      args: ['--root', join(dataDir, 'temporal-server', String(port)), '--allow-no-auth', 'start'],
      env: {
        DB: 'postgres12',
        DB_PORT: String(databasePort),
        POSTGRES_SEEDS: LOOPBACK,
        POSTGRES_USER: DATABASE_USER,
        POSTGRES_PWD: DATABASE_PASSWORD,
        BIND_ON_IP: LOOPBACK,
        FRONTEND_GRPC_PORT: String(port),
        ...Object.fromEntries([...ports].map(([name, each]) => [name, String(each)])),
        DYNAMIC_CONFIG_FILE_PATH: resolve('deploy/temporal/dynamic-config.yaml'),
        LOG_LEVEL: 'error',
      },
      logFile: join(dataDir, 'logs', 'temporal.log'),
      probe: () => answers(`${LOOPBACK}:${port}`),
      report,
      restart: false,
    });
    report(`Temporal: ready at ${LOOPBACK}:${port}.`);
    return { address: `${LOOPBACK}:${port}`, stop: () => server.stop() };
  };
}

async function answers(address: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: '2s' });
  await connection.close();
}
