/** A row of a table: | a question | [a page](path.md), … |. */
const ROW = /^\| (?!-)[^|]* \| (.*) \|$/gm;
const LINK = /\[([^\]]+)\]\(([^)#]+\.md)\)/g;

/**
 * The side bar: the pages in the order of the tables of both indexes, so that a page that is found from them is found
 * here.
 */
export function sidebar(readme, docs) {
  const seen = new Set();
  return [
    { text: 'Tasks', items: pagesIn(readme, '', seen) },
    { text: 'Reference', items: pagesIn(docs, 'docs/', seen) },
    {
      text: 'Background',
      collapsed: true,
      items: linksIn(docs.split('Background:')[1] ?? '', 'docs/', seen),
    },
  ];
}

function pagesIn(text, folder, seen) {
  return [...text.matchAll(ROW)].flatMap(([, cell = '']) => linksIn(cell, folder, seen));
}

function linksIn(text, folder, seen) {
  return [...text.matchAll(LINK)].flatMap(([, title, target]) => {
    const link = `/${folder}${target}`.replace(/README\.md$/, '').replace(/\.md$/, '');
    if (target.startsWith('..') || seen.has(link)) return [];
    seen.add(link);
    return [{ text: title, link }];
  });
}
