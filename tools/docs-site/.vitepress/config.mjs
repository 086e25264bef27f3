import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { groupsOfCode } from './groups-of-code.mjs';
import { linksOfTheSite } from './links-of-the-site.mjs';
import { sidebar } from './sidebar.mjs';

/** Pages are the files themselves, at their paths in the repository, so that their links work in both. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Files that pages lead to and that are no pages, and their names in the site. */
const FILES = {
  LICENSE: 'LICENSE.txt',
  'docker-compose.yml': 'docker-compose.yml',
  'docs/openapi.json': 'docs/openapi.json',
};

export default defineConfig({
  title: 'Hookline',
  description: 'Signed webhooks, retried for days, with a permanent record of every attempt',
  lang: 'en',
  srcDir: ROOT,
  srcExclude: ['!(docs|clients)/**/*.md', 'clients/*/!(README).md', '!(README|CHANGELOG).md'],
  outDir: 'dist',
  cacheDir: 'node_modules/.vitepress',
  base: process.env.DOCS_BASE ?? '/',
  rewrites: (path) => path.replace(/(^|\/)README\.md$/, '$1index.md'),
  cleanUrls: false,
  lastUpdated: false,
  markdown: {
    // As GitHub makes them: links to headings work in both.
    anchor: { slugify: headingId },
    config(md) {
      groupsOfCode(md);
      linksOfTheSite(md, FILES);
    },
  },
  // Pages stand outside of this folder, and so do not find its packages.
  vite: {
    resolve: {
      alias: [
        { find: /^vue$/, replacement: packagePath('vue/dist/vue.runtime.esm-bundler.js') },
        { find: /^vue\/server-renderer$/, replacement: packagePath('vue/server-renderer') },
      ],
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/' },
      { text: 'Tutorial', link: '/docs/tasks/tutorial' },
      { text: 'Reference', link: '/docs/' },
      { text: 'FAQ', link: '/docs/faq' },
    ],
    sidebar: sidebar(...(await Promise.all(['README.md', 'docs/README.md'].map(read)))),
    docFooter: { prev: false, next: false },
  },
  async buildEnd({ outDir }) {
    for (const [file, name] of Object.entries(FILES)) await copyFile(join(ROOT, file), join(outDir, name));
  },
});

/** @param {string} name */
function packagePath(name) {
  return fileURLToPath(import.meta.resolve(name));
}

/** @param {string} file */
function read(file) {
  return readFile(join(ROOT, file), 'utf8');
}

/** The id of a heading, as GitHub makes it. */
function headingId(text) {
  return text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
