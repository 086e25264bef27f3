import type { Filter } from '../../../../../packages/payload-contract/src/filter/index.js';
import { findMistake } from '../../../../../packages/payload-contract/src/filter/index.js';

/** Filter in a text: none, a filter, or a mistake, by the rule of the service. */
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
