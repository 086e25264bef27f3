import type { Filter } from '../../../../../packages/payload-contract/src/filter/index.js';
import { findMistake } from '../../../../../packages/payload-contract/src/filter/index.js';

/** What a text of a filter means: none, a filter, or a mistake, by the rule by which the service takes it. */
export function parseFilter(text: string): { filter?: Filter; mistake?: string } {
  if (text.trim() === '') return {};
  try {
    const filter: unknown = JSON.parse(text);
    const wrong = findMistake(filter);
    if (!wrong) return { filter: filter as Filter };
    const { place, detail } = wrong;
    return { mistake: `${place.length === 0 ? 'The filter' : `/${place.join('/')}`} ${detail}` };
  } catch (error) {
    return { mistake: `This is not JSON: ${(error as Error).message}` };
  }
}
