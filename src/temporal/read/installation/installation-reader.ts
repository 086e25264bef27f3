import type { Client } from '@temporalio/client';
import { ACCOUNT_ATTRIBUTE, KIND_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';
import { parseFanOutWorkflowId, replayWorkflowId } from '../../../domain/ledger/workflow-ids.js';
import type { RowFilter } from '../../../domain/list/delivery-filter.js';
import { DeliveryList } from '../delivery-list.js';
import { type DeliverySummary, headsOf } from '../delivery-view.js';
import { hasKey, membersOf } from '../group/group-memo.js';
import type { ExtendedRow, RowExtra, RowExtras } from '../row-extras.js';
import { EVERY_ACCOUNT, where } from '../visibility/clauses.js';
import { beginsWith } from '../visibility/query.js';
import { listExecutions, type Page } from '../visibility/visibility.js';

/** A delivery, and whose it is. */
type AccountDelivery = DeliverySummary & { account_id: string };

/** An event, and whose it is. */
export interface AccountEvent {
  account_id: string;
  event_id: string;
  event_kind: string;
}

/** Tokens in one query: some 2 KiB of it. */
export const TOKENS_AT_ONCE = 100;

/** Reads the ledger over all accounts, for the operator alone. */
export class InstallationReader {
  private readonly client: Client;
  private readonly reader: RowExtras;

  /** @param reader reads what rows show besides */
  constructor(client: Client, reader: RowExtras) {
    this.client = client;
    this.reader = reader;
  }

  /**
   * A page of deliveries, each in its newest run: open ones first, then the latest closed. What Temporal has removed is
   * in the list of its account.
   *
   * @param filter by what rows tell
   * @param extras what rows show besides
   * @throws InvalidCursorError if the cursor did not come from this list
   */
  async deliveries(
    filter: RowFilter,
    limit: number,
    after?: string,
    extras: readonly RowExtra[] = [],
  ): Promise<Page<ExtendedRow<AccountDelivery>>> {
    const lastAttempts = this.reader.attemptsIn(extras);
    const list = new DeliveryList(this.client, EVERY_ACCOUNT, filter, undefined, lastAttempts);
    const { data, after: next } = await list.deliveries(limit, after);
    const listed = data.map(({ account_id, value }) => ({ account_id, ...value }));
    return {
      data: await this.reader.complete(listed, extras, ({ account_id }) => account_id),
      ...(next !== undefined && { after: next }),
    };
  }

  /**
   * Events with one of some business keys, at most a number of them. It is one call.
   *
   * @param accountOf whose each token is: at most {@link TOKENS_AT_ONCE}
   */
  async eventsWith(accountOf: ReadonlyMap<string, string>, limit: number): Promise<AccountEvent[]> {
    if (accountOf.size === 0) return [];
    if (accountOf.size > TOKENS_AT_ONCE) throw new RangeError(`too many tokens: ${accountOf.size}`);
    const clauses = where([...accountOf.keys()], { isHead: true, isCurrent: true });
    const { data } = await listExecutions(this.client, clauses, limit);
    const found = data.flatMap((execution) => {
      const event_kind = execution.typedSearchAttributes.get(KIND_ATTRIBUTE) ?? '';
      const named = execution.typedSearchAttributes.get(ACCOUNT_ATTRIBUTE) ?? [];
      return named.flatMap((token) => {
        // Visibility compares without regard to case; a token of another account's key is not among these.
        const account_id = accountOf.get(token);
        if (account_id === undefined) return [];
        const isKeyed = hasKey(execution, token);
        const events = headsOf(execution, account_id).filter(isKeyed);
        return events.map((event_id) => ({ account_id, event_id, event_kind }));
      });
    });
    return found.slice(0, limit);
  }

  /** The account of an event that Temporal has; `undefined` if it has none of that id. */
  async accountOfEvent(eventId: string): Promise<string | undefined> {
    const clauses = where(EVERY_ACCOUNT, { event: eventId, isCurrent: true });
    const { data } = await listExecutions(this.client, clauses, 1);
    for (const execution of data) {
      const keys = [...membersOf(execution), parseFanOutWorkflowId(execution.workflowId)];
      const account = keys.find((key) => key?.event_id === eventId)?.account_id;
      if (account !== undefined) return account;
    }
    return undefined;
  }

  /** The account of a replay that Temporal has; `undefined` if it has none of that id. */
  async accountOfReplay(replayId: string): Promise<string | undefined> {
    const begin = replayWorkflowId('', replayId);
    const { data } = await listExecutions(this.client, [beginsWith('WorkflowId', begin)], 1);
    return data[0]?.typedSearchAttributes.get(ACCOUNT_ATTRIBUTE)?.[0];
  }
}
