// Follows every link, image and script of the site that was built: `node check-links.mjs dist`. VitePress looks at
// links between pages only, and not at headings. The base of the site, DOCS_BASE, is that of its paths.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [root = 'dist'] = process.argv.slice(2);
const base = process.env.DOCS_BASE ?? '/';
const pages = new Map(
  readdirSync(root, { recursive: true })
    .filter((name) => name.endsWith('.html'))
    .map((name) => [name, readFileSync(join(root, name), 'utf8')]),
);
const idsOf = new Map([...pages].map(([name, html]) => [name, new Set(valuesOf(html, 'id'))]));

const dead = [];
let count = 0;
for (const [page, html] of pages)
  for (const target of [...valuesOf(html, 'href'), ...valuesOf(html, 'src')]) {
    const url = new URL(target, `http://site${base}${page}`);
    if (url.host !== 'site') continue;
    count += 1;
    const path = decodeURIComponent(url.pathname.slice(base.length));
    const name = path === '' || path.endsWith('/') ? `${path}index.html` : path;
    const id = decodeURIComponent(url.hash.slice(1));
    if (!existsSync(join(root, name)) || (id && idsOf.get(name)?.has(id) === false))
      dead.push(`${page}: ${target}`);
  }
for (const one of dead) console.error(`dead link in ${one}`);
console.log(`${pages.size} pages, ${count} links, ${dead.length} dead.`);
process.exitCode = dead.length > 0 || count === 0 ? 1 : 0;

/** The values of an attribute, in a document that VitePress has written. */
function valuesOf(html, name) {
  return [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, value]) =>
    value.replaceAll('&amp;', '&'),
  );
}
