import { equal, throws } from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { loadSettings } from '../../../src/config/load.js';
import { SECRET_SETTINGS } from '../../../src/config/secret-files.js';
import { folderOfEach } from '../../support/folder.js';

describe('secrets in files', () => {
  const inFolder = folderOfEach();
  function file(name: string, text: string): string {
    writeFileSync(inFolder(name), text);
    return inFolder(name);
  }

  it('are read in place of the setting, without the newline at the end', () => {
    const path = file('uri', 'mongodb://hookline:secret@mongodb:27017/hookline\n');
    const settings = loadSettings({ MONGODB_URI_FILE: path });
    equal(settings.MONGODB_URI, 'mongodb://hookline:secret@mongodb:27017/hookline');
    equal(loadSettings({ MONGODB_URI_FILE: '' }).MONGODB_URI, undefined);
  });

  it('are refused by name where the file is not there or empty, the setting is given twice, or is no secret', () => {
    const refused: [NodeJS.ProcessEnv, RegExp][] = [
      [
        { HOOKLINE_SECRET_KEYS_FILE: '/nowhere' },
        /HOOKLINE_SECRET_KEYS_FILE: \/nowhere cannot be read \(ENOENT\)/,
      ],
      [{ HOOKLINE_SECRET_KEYS_FILE: file('empty', '\n') }, /HOOKLINE_SECRET_KEYS_FILE: .*empty is empty/],
      [
        { MONGODB_URI: 'mongodb://a', MONGODB_URI_FILE: '/b' },
        /MONGODB_URI, MONGODB_URI_FILE: set one of them/,
      ],
      [{ HOOKLINE_HOST_FILE: '/b' }, /HOOKLINE_HOST_FILE: there is no such setting/],
    ];
    for (const [environment, message] of refused) throws(() => loadSettings(environment), message);
  });

  it('of a wrong form are refused without being repeated', () => {
    const path = file('keys', 'not-a-key-but-secret');
    throws(
      () => loadSettings({ HOOKLINE_SECRET_KEYS_FILE: path }),
      (error: Error) => /HOOKLINE_SECRET_KEYS: /.test(error.message) && !error.message.includes('but-secret'),
    );
  });

  it('are named in docs/configuration.md', () => {
    const text = readFileSync('docs/configuration.md', 'utf8');
    const [, paragraph = ''] = /^## Secrets in files\n([\s\S]*?)^(?:##|\|)/m.exec(text) ?? [];
    const named = [...paragraph.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name);
    for (const name of SECRET_SETTINGS) equal(named.includes(name), true, name);
  });
});
