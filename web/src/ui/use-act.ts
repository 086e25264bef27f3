import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { say } from './toast.js';

/**
 * Does things through the API: what is shown is asked for again afterwards, and a refusal is told.
 *
 * @returns `act`, which resolves with the answer, and `busy`, while it is under way
 */
export function useAct() {
  const queryClient = useQueryClient();
  const [busy, setBusy] = useState(false);
  /**
   * @param done what to tell the person when it has been done
   *
   * @throws what the API refuses with, after telling it unless `quiet`
   */
  async function act<T>(
    call: () => Promise<T>,
    done?: string,
    { quiet = false } = {},
  ): Promise<T | undefined> {
    setBusy(true);
    try {
      const answer = await call();
      await queryClient.invalidateQueries();
      if (done !== undefined) say(done);
      return answer;
    } catch (error) {
      if (quiet) throw error;
      say((error as Error).message, { bad: true });
      return undefined;
    } finally {
      setBusy(false);
    }
  }
  return { act, busy };
}
