import { readdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  findBinary,
  goBuildWay,
  isExecutable,
  onPath,
  userCacheDir,
} from '../../packages/embedded-servers/src/index.js';

/** The release pinned in tools/temporal-server/go.mod: that of docker-compose.yml. */
const SERVER_VERSION = 'v1.32.0';
/** Where Debian's packages put a version's programs. */
const DEBIAN = '/usr/lib/postgresql';

/** The programs of Temporal's server: the server, and the tool that makes its tables. */
export interface TemporalPrograms {
  server: string;
  sqlTool: string;
}

/** Builds Temporal's server and its tool with Go, once per user: minutes on two cores. */
export async function temporalPrograms(report: (line: string) => void): Promise<TemporalPrograms> {
  const build = async (program: string, source: string, doing: string) => {
    const way = goBuildWay(
      {
        doing: `building ${doing} ${SERVER_VERSION} with Go, once per user, some minutes`,
        program,
        version: SERVER_VERSION,
        sources: 'tools/temporal-server',
        args: (folder) => ['build', '-v', '-trimpath', '-ldflags=-s -w', '-o', join(folder, program), source],
        // Nothing in it needs a C compiler, as in the official release.
        env: { CGO_ENABLED: '0' },
      },
      userCacheDir(),
    );
    return (await findBinary("Temporal's server", 'a cluster is wanted', [way], report)).binary;
  };
  return {
    server: await build('temporal-server', 'go.temporal.io/server/cmd/server', "Temporal's server"),
    sqlTool: await build('temporal-sql-tool', 'go.temporal.io/server/cmd/tools/sql', 'temporal-sql-tool'),
  };
}

/** The folder with `initdb`, `postgres` and `psql`. @throws where PostgreSQL is not installed */
export async function postgresqlFolder(): Promise<string> {
  const found = await onPath('postgres');
  const versions = await readdir(DEBIAN).catch(() => []);
  const folders = [
    ...(found === undefined ? [] : [dirname(await realpath(found))]),
    ...versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(DEBIAN, version, 'bin')),
  ];
  for (const folder of folders) {
    const programs = ['initdb', 'postgres', 'psql'].map((name) => isExecutable(join(folder, name)));
    if ((await Promise.all(programs)).every(Boolean)) return folder;
  }
  throw new Error('PostgreSQL is not installed: apt-get install postgresql');
}
