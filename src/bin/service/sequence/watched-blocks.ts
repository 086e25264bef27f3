import type { Blocks } from '../../../domain/sequence/sequence.js';
import type { Teller } from '../log/log-watch.js';
import type { RestoreWatch } from './restore-watch.js';

/**
 * Blocks of numbers, of which none is reserved before it was looked whether MongoDB was restored.
 *
 * @param tell is told of each account whose numbers go on above a gap
 */
export function watchedBlocks(
  blocks: Blocks,
  restores: Pick<RestoreWatch, 'hasLooked'>,
  tell: (...of: Parameters<Teller>) => unknown,
): Blocks {
  return {
    hold: (holder, until) => blocks.hold(holder, until),
    release: (accountId, block, left, unsure) => blocks.release(accountId, block, left, unsure),
    async reserve(accountId, holder, size) {
      await restores.hasLooked();
      const reserved = await blocks.reserve(accountId, holder, size);
      const { lost } = reserved;
      if (lost)
        await tell(
          'sequence_altered',
          `the sequence of ${accountId}`,
          `goes on at ${reserved.first}, because numbers from ${lost.first} on may have been given: ${lost.why}`,
        );
      return reserved;
    },
  };
}
