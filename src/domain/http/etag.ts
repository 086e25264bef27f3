/**
 * Whether a list of entity tags (`If-Match`, `If-None-Match`: RFC 9110, section 13.1) holds one.
 *
 * @param list the header's value; `*` matches every tag
 * @param weak whether weak tags count as equal, as they do for `If-None-Match` and do not for `If-Match`
 */
export function matchesEtag(list: string, etag: string, weak: boolean): boolean {
  if (list.trim() === '*') return true;
  return list
    .split(',')
    .map((tag) => tag.trim())
    .some((tag) => tag === etag || (weak && tag === `W/${etag}`));
}
