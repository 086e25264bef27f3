/**
 * Parameters of a query: several times what any operation takes. Koa looks for each name among all of them, so that
 * many cost the square of their number.
 */
export const MAX_QUERY_PARAMETERS = 256;

/** Whether a query has more parameters than it may have, by its raw text. */
export function hasTooManyParameters(query: string): boolean {
  let count = 1;
  for (let at = query.indexOf('&'); at >= 0 && count <= MAX_QUERY_PARAMETERS; at = query.indexOf('&', at + 1))
    count += 1;
  return count > MAX_QUERY_PARAMETERS;
}
