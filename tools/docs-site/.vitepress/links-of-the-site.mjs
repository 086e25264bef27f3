/**
 * Has links lead where things are in the site: a folder's README.md is its index, and some files have another name.
 *
 * @param {import('markdown-it').default} md
 * @param {Record<string, string>} files by their names in the repository
 */
export function linksOfTheSite(md, files) {
  md.core.ruler.push('links-of-the-site', ({ tokens }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.attrGet('href');
      if (token.type !== 'link_open' || href === null || /^\w+:/.test(href)) continue;
      token.attrSet(
        'href',
        href
          .replace(/(^|\/)README\.md(?=#|$)/, '$1index.md')
          .replace(/[^/]+$/, (name) => files[name] ?? name),
      );
    }
  });
}
