import { proxyActivities, setCurrentDetails, sleep, upsertMemo, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import {
  type AccountDeletion,
  type DeletionRequest,
  describeDeletion,
  newDeletion,
} from '../src/domain/access/account-deletion.js';
import { TIMINGS, type Timings } from '../src/domain/timings.js';
import { continueWithMemo } from './continue-with-memo.js';

/** State of a deletion, for the run that continues it. */
export interface DeletionSoFar {
  deletion: AccountDeletion;
  /** When its access had ended, milliseconds since the epoch. */
  closed_at: number;
  /** Where the search for open deliveries goes on. */
  cursor?: unknown;
  /** Open deliveries that this search has found. */
  found: number;
  /** Searches so far. */
  passes: number;
}

export interface DeleteAccountInput extends DeletionRequest {
  /** Present if the run continues another one. */
  so_far?: DeletionSoFar;
  timings?: Timings;
}

/** Deliveries that are released each second: they end without an attempt. */
const RELEASE_RATE = 500;
/** Endpoints whose deliveries are released at once. */
const RELEASES_AT_ONCE = 5;

const {
  endAccess,
  removeEndpoints,
  endOpenDeliveries,
  eraseAccountPayloads,
  finishDeletion,
  releaseParkedDeliveries,
} = proxyActivities<Activities>({
  startToCloseTimeout: '1h',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '1m' },
});

/**
 * Deletes an account: it accepts nothing from the beginning, its credentials and endpoints are removed, and its open
 * deliveries are cancelled. The record of what it did stays; its payloads, too, or they are erased as the request says.
 * Every step can be repeated, so the deletion goes on where it was, however it is interrupted.
 */
export async function deleteAccount(input: DeleteAccountInput): Promise<AccountDeletion> {
  const { so_far, timings: given, ...request } = input;
  const timings = { ...TIMINGS, ...given };
  const state: DeletionSoFar = so_far ?? {
    deletion: newDeletion(request),
    closed_at: 0,
    found: 0,
    passes: 0,
  };
  const show = (change: Partial<AccountDeletion>) => {
    state.deletion = { ...state.deletion, ...change };
    upsertMemo({ deletion: state.deletion });
    setCurrentDetails(describeDeletion(state.deletion));
  };
  const ended = (count: number) => show({ deliveries_ended: state.deletion.deliveries_ended + count });

  if (state.closed_at === 0) {
    show({ credentials_ended: await endAccess(request), stage: 'endpoints' });
    state.closed_at = Date.now();
  }
  for (;;) {
    if (state.cursor === undefined) await removeAllEndpoints();
    if (state.deletion.stage === 'endpoints') {
      const left = state.closed_at + timings.deletion_settles_ms - Date.now();
      await sleep(Math.max(left, 1), { summary: 'requests that were accepted before get their responses' });
      show({ stage: 'deliveries' });
      // An endpoint may have been registered by one of those requests.
      continue;
    }
    const isLast = await endSome();
    if (workflowInfo().continueAsNewSuggested) return carryOn();
    if (!isLast) continue;
    if (state.found === 0) break;
    // Some had an attempt under way.
    const wait = Math.min(timings.search_again_ms * 2 ** state.passes, timings.search_again_at_last_ms);
    Object.assign(state, { found: 0, passes: state.passes + 1 });
    await sleep(wait, { summary: 'for attempts under way' });
  }
  if (request.payloads === 'erase') await eraseAllPayloads();
  const deletion: AccountDeletion = { ...state.deletion, stage: 'done' };
  await finishDeletion(request, deletion);
  show(deletion);
  return deletion;

  /** Removes endpoints, some at a time, and releases what waits for them. */
  async function removeAllEndpoints(): Promise<void> {
    for (;;) {
      const ids = await removeEndpoints(request);
      if (ids.length === 0) return;
      show({ endpoints_deleted: state.deletion.endpoints_deleted + ids.length });
      for (let first = 0; first < ids.length; first += RELEASES_AT_ONCE) {
        const some = ids.slice(first, first + RELEASES_AT_ONCE);
        const results = await Promise.all(some.map((endpoint_id) => releaseWaiting(endpoint_id)));
        ended(results.reduce((sum, { released }) => sum + released, 0));
      }
      if (workflowInfo().continueAsNewSuggested) await carryOn();
    }
  }

  function carryOn(): Promise<never> {
    return continueWithMemo<typeof deleteAccount>({ ...input, so_far: state });
  }

  function releaseWaiting(endpoint_id: string) {
    const { account_id } = request;
    return releaseParkedDeliveries({ account_id, endpoint_id, per_second: RELEASE_RATE, retries: true });
  }

  /** Ends a page of the deliveries that are still open. @returns whether it was the last page */
  async function endSome(): Promise<boolean> {
    const page = await endOpenDeliveries(request, state.cursor ?? null);
    state.found += page.found;
    if (page.ended > 0) ended(page.ended);
    if (page.next === undefined) delete state.cursor;
    else state.cursor = page.next;
    return page.next === undefined;
  }

  /**
   * Deletes the data keys, until a search finds none, at a time when no process remembers one that an earlier search
   * has deleted.
   */
  async function eraseAllPayloads(): Promise<void> {
    show({ stage: 'payloads' });
    for (let searches = 1; ; searches += 1) {
      const erased = await eraseAccountPayloads(request);
      if (erased === 0 && searches > 1) return;
      show({ keys_erased: (state.deletion.keys_erased ?? 0) + erased });
      await sleep(timings.keys_remembered_ms, { summary: 'until no process remembers a key any more' });
    }
  }
}
