import { equal } from 'node:assert/strict';
import { matchesEtag } from '../../../src/domain/http/etag.js';

describe('a list of entity tags', () => {
  for (const [list, strongly, weakly] of [
    ['"1"', true, true],
    ['W/"1"', false, true],
    ['"0", W/"1"', false, true],
    ['"0",  "1"', true, true],
    ['"2"', false, false],
    ['*', true, true],
  ] as const)
    it(`${list} ${strongly ? 'holds' : 'does not hold'} a tag strongly, and ${weakly ? 'does' : 'does not'} weakly`, () => {
      equal(matchesEtag(list, '"1"', false), strongly);
      equal(matchesEtag(list, '"1"', true), weakly);
    });
});
