/** Fields that hold what others have written: subscribers, producers, receivers, people who gave a reason. */
const OF_OTHERS = new Set([
  ...['response_snippet', 'response_headers', 'error', 'headers', 'url', 'target_url', 'host'],
  ...['description', 'metadata', 'filter', 'condition', 'status_reason', 'name', 'person', 'reference'],
  ...['business_keys', 'before', 'after', 'schema'],
]);
/** Under this name stands what others have written. */
export const OUTSIDE = 'written_by_others';

/**
 * Value as a tool gives it to a model: each text of others alone in an object of its own, so that none is read as a
 * word of Hookline. Payloads stay out, and what a clause of a filter found there.
 *
 * @param more names of further fields that others have written
 */
export function marked(value: unknown, more: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((item) => marked(item, more));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'payload' && !(name === 'found' && 'clause' in value))
      .map(([name, member]) => [
        name,
        OF_OTHERS.has(name) || more.includes(name) ? { [OUTSIDE]: member } : marked(member, more),
      ]),
  );
}
