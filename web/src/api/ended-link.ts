import type { Problem } from '../../../clients/typescript/src/index.js';

/** Where a link to the portal came from that has ended, as the service says with its refusal. */
export type EndedLink = NonNullable<Problem['portal']>;

const NAME = 'hookline.ended';

/** Keeps it for this tab, so that a reload does not ask for a key. */
export function keepEndedLink(link: EndedLink): void {
  sessionStorage.setItem(NAME, JSON.stringify(link));
  last = undefined;
}

/** Forgets it: somebody has signed in. */
export function forgetEndedLink(): void {
  sessionStorage.removeItem(NAME);
  last = undefined;
}

/** The link that ended in this tab; the same object until it changes. */
export function endedLink(): EndedLink | undefined {
  const text = sessionStorage.getItem(NAME);
  if (text === null) return undefined;
  last ??= JSON.parse(text) as EndedLink;
  return last;
}
let last: EndedLink | undefined;
