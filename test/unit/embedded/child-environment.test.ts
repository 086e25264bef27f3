import { deepEqual, equal, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { childEnvironment } from '../../../packages/embedded-servers/src/index.js';
import { SECRET_SETTINGS } from '../../../src/config/secret-files.js';

/** Each place in the source that starts a program, and what it lets through besides what is common. */
const STARTERS = {
  'src/bin/client/login/login.ts': 'childEnvironment(OF_DESKTOPS)',
  'src/bin/operator/temporal.ts': "childEnvironment(['TEMPORAL_*'])",
  // By that of the file above all of these.
  'packages/embedded-servers/src/servers/guarded-process.ts': undefined,
  'packages/embedded-servers/src/binaries/find-binary.ts': 'childEnvironment()',
  'packages/embedded-servers/src/binaries/download.ts': 'childEnvironment(OF_DOWNLOADS)',
  'packages/embedded-servers/src/binaries/go-build.ts': 'childEnvironment(OF_GO)',
  'packages/embedded-servers/src/binaries/wheel.ts': 'childEnvironment(OF_PIP)',
  'packages/embedded-servers/src/servers/server-process.ts': 'childEnvironment(OF_GO)',
};

describe('the environment of programs that are not ours', () => {
  it('has what was named, in either case, and no setting of ours', () => {
    const secrets = Object.fromEntries(SECRET_SETTINGS.map((name) => [name, 'secret']));
    const own = { PATH: '/bin', https_proxy: 'http://proxy', LC_ALL: 'C', GOPROXY: 'off', GOFLAGS: '-v' };
    const all = {
      ...own,
      ...secrets,
      HOOKLINE_API_KEY: 'secret',
      AWS_SECRET_ACCESS_KEY: 'secret',
      PIP_X: '1',
    };
    deepEqual(childEnvironment(['GO*'], all), own);
  });

  it('is given by each place in the source that starts one', () => {
    const files = ['src', 'activities', 'workflows', 'packages/embedded-servers/src'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    );
    const starts = (text: string) => /child_process|startGuarded\(/.test(text);
    const found = files.filter((file) => file.endsWith('.ts') && starts(readFileSync(file, 'utf8')));
    deepEqual(found.sort(), Object.keys(STARTERS).sort());
    for (const [file, environment] of Object.entries(STARTERS)) {
      const text = readFileSync(file, 'utf8');
      ok(environment === undefined || text.includes(environment), file);
      ok(!text.includes('...process.env'), file);
    }
    // The compiler asks for it where a program is started through the guard.
    const [, options = ''] =
      /interface GuardedOptions \{(.*?)\n\}/s.exec(
        readFileSync('packages/embedded-servers/src/servers/guarded-process.ts', 'utf8'),
      ) ?? [];
    equal(/^ {2}env: /m.test(options), true);
  });
});
