import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import { deliveryId } from '../../../domain/basics/delivery-id.js';
import { idTime } from '../../../domain/basics/id-time.js';
import { SlowAnswers } from '../../../domain/basics/slow-answers.js';
import { OPEN_STATUSES } from '../../../domain/delivery/delivery.js';
import type { OpenFilter, RowSearch, WithoutRow } from '../../../domain/records/row-search.js';
import type { ListedDelivery } from '../../../domain/records/stored.js';
import { summaryIn } from '../../../domain/records/stored-views.js';
import type { OpenDelivery } from '../../../domain/stats/backlog.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { unlessAway } from '../unless-away.js';
import { EVERY_ACCOUNT, toQuery, where } from '../visibility/query.js';
import { notBegun } from './not-begun.js';

/** More deliveries than this are not read for one response: it would take seconds. */
const MAX_OPEN = 20_000;

/** Open deliveries as they were at a moment. */
export interface OpenAt {
  deliveries: OpenDelivery[];
  /** Whether these are all: there may be more than {@link MAX_OPEN}. */
  isComplete: boolean;
  /** Milliseconds since the epoch. */
  at: number;
  /** Time before which a due delivery is overdue, milliseconds since the epoch: longer than an attempt can take. */
  overdueBefore: number;
}

/** Reads what is open, for counts. */
export class BacklogReader {
  private readonly client: Client;
  private readonly rows: Pick<RowSearch, 'open' | 'withoutRows'>;
  private readonly graceMs: number;
  /** Limits simultaneous readings of this process. */
  private readonly limit = pLimit(4);
  /** Few of them: each can be large. */
  private readonly answers = new SlowAnswers<OpenAt>(20);

  /** @param graceMs a delivery that has been due for longer is overdue, milliseconds */
  constructor(client: Client, rows: Pick<RowSearch, 'open' | 'withoutRows'>, graceMs: number) {
    this.client = client;
    this.rows = rows;
    this.graceMs = graceMs;
  }

  /** The open deliveries that match, as they are or were some seconds ago: the longer reading takes, up to ten. */
  read(filter: OpenFilter): Promise<OpenAt> {
    const question = JSON.stringify([filter.account_id, filter.endpoint_id, filter.event_kind]);
    return this.answers.get(question, () => this.limit(() => this.readNow(filter)));
  }

  /** How many endpoints are failing, in all accounts; `undefined` while Temporal is away. */
  async openIncidents(): Promise<number | undefined> {
    const query = toQuery(where(EVERY_ACCOUNT, { type: 'endpointIncident', status: 'Running' }));
    const { client } = this;
    return (await unlessAway(client, () => client.workflow.count(query), undefined))?.count;
  }

  private async readNow(filter: OpenFilter): Promise<OpenAt> {
    const at = sharedNow();
    const waiting = await this.notBegun(filter);
    const found = await this.rows.open(filter, MAX_OPEN + 1);
    const ids = new Set(found.map(({ id }) => id));
    const others = waiting.filter((one) => !ids.has(deliveryId(one)));
    const deliveries = [...found.flatMap(toOpen), ...others.map(toWaiting)];
    return {
      at,
      overdueBefore: at - this.graceMs,
      deliveries: deliveries.slice(0, MAX_OPEN),
      isComplete: deliveries.length <= MAX_OPEN,
    };
  }

  /** Those that match of what has no row yet. */
  private async notBegun({ account_id, endpoint_id, event_kind }: OpenFilter): Promise<WithoutRow[]> {
    const waiting: WithoutRow[] = [];
    for await (const some of notBegun(this.rows, account_id)) {
      const matching = some.filter(
        (one) =>
          (endpoint_id === undefined || one.endpoint_id === endpoint_id) &&
          (event_kind === undefined || one.event_kind === event_kind),
      );
      waiting.push(...matching);
      if (waiting.length > MAX_OPEN) break;
    }
    return waiting;
  }
}

function toWaiting({ account_id, endpoint_id, event_kind, event_id }: WithoutRow): OpenDelivery {
  const createdAt = idTime(event_id);
  return { account_id, endpoint_id, event_kind, status: 'delivering', createdAt, dueAt: createdAt };
}

function toOpen(row: ListedDelivery): OpenDelivery[] {
  const { account_id, endpoint_id, event_kind, event_id, status } = row;
  if (!isOpen(status)) return [];
  const { next_attempt_at, started_at } = summaryIn(row);
  const due =
    status === 'parked' ? undefined : (next_attempt_at ?? (status === 'delivering' ? started_at : undefined));
  return [
    {
      ...{ account_id, endpoint_id, event_kind, status, createdAt: idTime(event_id) },
      ...(due !== undefined && { dueAt: Date.parse(due) }),
    },
  ];
}

function isOpen(status: string): status is OpenDelivery['status'] {
  return (OPEN_STATUSES as readonly string[]).includes(status);
}
