import { equal, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { folderOfEach } from '../../support/folder.js';
import { hasProgram } from '../../support/programs/programs.js';
import { sharedSystem } from '../../support/system.js';

const run = promisify(execFile);
const PAGE = 'docs/tasks/producer.md';

/** How the code of the page is run, by the label of its tab. */
const LANGUAGES: Record<string, { file: string; program: string; isThere: () => boolean; args: string[] }> = {
  curl: { file: 'post.sh', program: 'sh', isThere: () => hasProgram('curl', '--version'), args: [] },
  TypeScript: { file: 'post.mts', program: process.execPath, isThere: () => true, args: ['--import', 'tsx'] },
  Python: {
    file: 'post.py',
    program: 'python3',
    isThere: () => hasProgram('python3', '--version'),
    args: [],
  },
  Go: {
    file: 'post.go',
    program: 'go',
    isThere: () => hasProgram('go', 'version'),
    args: ['run', '-trimpath'],
  },
};

describe('the code of the quick start for producers [world]', () => {
  const inFolder = folderOfEach();
  const blocks = [...readFileSync(PAGE, 'utf8').matchAll(/```\w+ \[(\w+)\]\n([\s\S]*?)```/g)];

  it('is there in every language', () => {
    equal(blocks.map(([, label]) => label).join(), Object.keys(LANGUAGES).join());
  });

  for (const [, label = '', code = ''] of blocks)
    it(`posts an event, in ${label}`, async function () {
      const language = LANGUAGES[label];
      if (!language?.isThere()) return this.skip();
      const system = await sharedSystem();
      const client = await system.account();
      await writeFile(inFolder(language.file), code);
      const { stdout } = await run(language.program, [...language.args, inFolder(language.file)], {
        env: { ...process.env, HOOKLINE_URL: system.url, HOOKLINE_API_KEY: client.key },
      });
      const { id, kind } = JSON.parse(stdout);
      equal(kind, 'purchase');
      const event = await client.request('GET', `/v18.0/events/${id}`);
      ok(event.json.payload.order_id === '1001', event.text);
    });
});
