import { deepEqual, equal, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { COMMANDS } from '../../src/bin/commands.js';
import { loadSettings } from '../../src/config/load.js';
import { RELEASE } from '../../src/domain/basics/release.js';
import { folderOfEach } from '../support/folder.js';
import { needs } from '../support/needs.js';

// The command that makes keys is run.
needs('build');

/** Settings for the keys of an installation in production. */
const KEYS = ['HOOKLINE_SECRET_KEYS', 'HOOKLINE_PAYLOAD_KEYS', 'HOOKLINE_WRAPPING_KEYS', 'HOOKLINE_LOG_KEY'];

const page = (name: string) => readFileSync(`docs/tasks/${name}.md`, 'utf8');
const blocks = (text: string, language: string) =>
  [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)]
    .filter(([, of]) => of === language)
    .map(([, , code = '']) => code);
/** The block of a page that has some words in it. */
function block(name: string, language: string, words: string): string {
  const found = blocks(page(name), language).find((code) => code.includes(words));
  ok(found, `${name} has no block of ${language} with ${words}`);
  return found;
}

describe('The pages for operators [world]', () => {
  const inFolder = folderOfEach();

  /**
   * Runs the commands of a page, with programs that stand in for those that are not here.
   *
   * @returns what they printed
   */
  function run(commands: string, programs: Record<string, string>): string {
    mkdirSync(inFolder('bin'));
    for (const [name, script] of Object.entries(programs)) {
      writeFileSync(inFolder('bin', name), `#!/bin/sh\n${script}\n`);
      chmodSync(inFolder('bin', name), 0o755);
    }
    const env = { PATH: `${inFolder('bin')}:${process.env['PATH']}`, HOME: inFolder() };
    return execFileSync('sh', ['-euc', commands], { env, cwd: inFolder(), encoding: 'utf8' });
  }
  const HOOKLINE = `exec ${process.execPath} ${resolve('dist/bin/hookline.js')} "$@"`;

  it('make, on a machine, the keys that its settings name', () => {
    const inPlace = (text: string) => text.replaceAll('/etc/hookline', inFolder('etc'));
    run(inPlace(block('production', 'sh', 'hookline secret-key')), { hookline: HOOKLINE });
    const lines = inPlace(block('production', 'sh', 'TEMPORAL_ADDRESS='))
      .trim()
      .split('\n');
    const settings = loadSettings(Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2))));
    for (const name of KEYS) ok(settings[name as keyof typeof settings], name);
    ok(settings.MONGODB_URI?.startsWith('mongodb://'));
  });

  it('make, for a cluster, the keys in the Secrets that its values name, with the image that they name', () => {
    const made = run(block('kubernetes', 'sh', 'create secret'), {
      // docker run --rm IMAGE COMMAND
      docker: `shift 3; ${HOOKLINE}`,
      // Each key of a Secret, with the name of that.
      kubectl: `for word in "$@"; do
        case $word in --from-literal=*) echo "$name $\{word#*=}";; esac
        if [ "$before" = generic ]; then name=$word; fi; before=$word
      done`,
    });
    const secrets = new Map(
      [...made.matchAll(/^(\S+) ([\w-]+)=(.*)$/gm)].map(([, name, key, value]) => [`${name} ${key}`, value]),
    );
    const values = parse(block('kubernetes', 'yaml', 'HOOKLINE_SECRET_KEYS'));
    const named = Object.entries(values.secrets as Record<string, { name: string; key: string }>);
    const settings = loadSettings(
      Object.fromEntries(named.map(([setting, { name, key }]) => [setting, secrets.get(`${name} ${key}`)])),
    );
    for (const name of ['MONGODB_URI', ...KEYS]) ok(settings[name as keyof typeof settings], name);
    const images = page('kubernetes').match(/registry\.example\.com\/hookline(?::[\w.]+)?/g);
    const version = JSON.parse(readFileSync('package.json', 'utf8')).version;
    ok(RELEASE.includes(version));
    deepEqual([...new Set(images)].sort(), [
      values.image.repository,
      `${values.image.repository}:${version}`,
    ]);
  });

  it('have settings for Temporal Cloud that exist, on a machine as in a cluster', () => {
    const lines = block('temporal-cloud', 'sh', 'TEMPORAL_ADDRESS=').trim().split('\n');
    const { TEMPORAL_API_KEY_FILE: file, ...onMachine } = Object.fromEntries(
      lines.map((line) => line.split('=')),
    ) as Record<string, string>;
    ok(file);
    const { settings, secrets } = parse(block('temporal-cloud', 'yaml', 'TEMPORAL_ADDRESS'));
    deepEqual(settings, onMachine);
    deepEqual(Object.keys(secrets), ['TEMPORAL_API_KEY']);
    equal(loadSettings(settings).HOOKLINE_VISIBILITY_PER_SECOND, 10);
  });

  it('run commands that there are, and fetch none of somebody else from the Internet', () => {
    for (const name of ['production', 'kubernetes', 'temporal-cloud', 'upgrade']) {
      for (const code of [...blocks(page(name), 'sh'), ...blocks(page(name), 'console')]) {
        ok(!/\bnpx\b/.test(code), `${name}: ${code}`);
        for (const [, command = ''] of code.matchAll(
          /(?:^|[$] |\(|do |-- |run --rm )hookline (?!-)([a-z-]+)/gm,
        ))
          ok(command in COMMANDS, `${name}: hookline ${command}`);
      }
    }
    for (const file of ['docs/privacy.md', 'docs/alerts.md'])
      ok(!/^ *\$.*\bnpx hookline\b/m.test(readFileSync(file, 'utf8')), file);
  });
});
