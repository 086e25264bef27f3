import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { collectionsTable } from '../../../tools/collections.js';
import { chartSettings, configurationTable, problemTable } from '../../../tools/docs-tables.js';

const read = (file: string) => readFileSync(file, 'utf8');

describe('Documents', () => {
  it('list every setting, error and collection as it is (mended by `npm run docs`)', () => {
    for (const [file, table] of [
      ['docs/configuration.md', configurationTable()],
      ['docs/errors.md', problemTable()],
      ['docs/collections.md', collectionsTable()],
    ] as const)
      ok(read(file).includes(`${table}\n`), file);
  });

  it('and the Helm chart know every setting (mended by `npm run docs`)', () => {
    equal(read('deploy/helm/hookline/settings.json'), chartSettings());
  });

  it('lead to files and headings that exist', () => {
    const files = [
      'README.md',
      'llms.txt',
      'CHANGELOG.md',
      'clients/typescript/README.md',
      ...markdownIn('docs'),
    ];
    for (const file of files) {
      for (const [, target = '', , heading] of read(file).matchAll(/\]\(([^)#\s]*)(#([^)]*))?\)/g)) {
        if (/^\w+:/.test(target)) continue;
        const path = target === '' ? file : join(dirname(file), target);
        ok(existsSync(path), `${file} leads to ${target}`);
        if (heading) ok(headingsOf(path).includes(heading), `${file} leads to ${path}#${heading}`);
      }
    }
  });

  it('begin with what people search for, a picture, three commands and six lines of output', () => {
    const screen = read('README.md').split('\n').slice(0, 35).join('\n');
    const [, sentence = ''] = screen.match(/^# Hookline\n\n(.*?\.) /) ?? [];
    for (const word of [/\bwebhooks?\b/, /\bsigned\b/, /\bretries\b/, /\brecord\b/]) match(sentence, word);
    const blocks = [...screen.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)];
    ok(screen.indexOf('![') < (blocks[0]?.index ?? 0));
    const lines = blocks.map(([, language, text = '']) => [language, text.trimEnd().split('\n').length]);
    deepEqual(lines.slice(0, 1), [['sh', 3]]);
    equal(lines.length, 2);
    ok(Number(lines[1]?.[1]) <= 6);
  });

  it('have code in fences alone: what is only indented is joined by whatever wraps lines', () => {
    for (const file of ['README.md', ...markdownIn('docs')]) {
      const text = read(file).replaceAll(/^```[\s\S]*?^```$/gm, '');
      equal(/\n\n {4,}(\S.*)/.exec(text)?.[1], undefined, file);
    }
  });

  it('have lines of at most 120 characters, but for tables, pictures and what has no space', () => {
    for (const file of [
      'README.md',
      'CHANGELOG.md',
      ...['docs', 'clients', 'packages'].flatMap(markdownIn),
    ]) {
      const text = read(file).replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
      const wide = text
        .split('\n')
        .find((line) => line.length > 120 && / /.test(line) && !/^(\||!\[)/.test(line));
      equal(wide, undefined, file);
    }
  });

  it('call what comes back a response: an answer is to a question', () => {
    const texts = [
      ...['README.md', 'docs/openapi.json', 'deploy/grafana/hookline.json', 'deploy/prometheus/alerts.yml'],
      ...markdownIn('docs').filter((file) => !file.startsWith('docs/decisions/')),
    ];
    for (const file of texts) {
      const said = read(file).match(
        /\banswer(?:s|ed)? (?:\d|`\d|with|within|again|after)|(?:no|its|the) answer\b/i,
      );
      equal(said?.[0], undefined, file);
    }
  });

  it('are all found from the index, or from the README', () => {
    const listed = ['README.md', 'docs/README.md'].flatMap((file) =>
      [...read(file).matchAll(/\]\(([^)#]+\.md)/g)].map(([, target = '']) => join(dirname(file), target)),
    );
    for (const file of markdownIn('docs').filter((name) => !name.startsWith('docs/decisions/'))) {
      ok(file === 'docs/README.md' || listed.includes(file), `no index leads to ${file}`);
    }
  });
});

/** The anchors of a document's headings, as GitHub makes them. */
function headingsOf(file: string): string[] {
  return [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function markdownIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => join(folder, name));
}
