import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import { SlowAnswers } from '../../../domain/basics/slow-answers.js';
import { equals, toQuery } from '../visibility/query.js';
import { type OpenDeliveries, type OpenFilter, readOpenDeliveries } from './open-deliveries.js';

/** Readings at once in this process: each is several of the list calls that Temporal limits for the namespace. */
const READINGS_AT_ONCE = 4;

/** Answers that are remembered: each can be large. */
const MAX_REMEMBERED = 20;

/** Open deliveries as they were at a moment. */
export interface OpenAt extends OpenDeliveries {
  /** Milliseconds since the epoch. */
  at: number;
  /** What was due before is overdue, milliseconds since the epoch: longer than an attempt can take. */
  overdueBefore: number;
}

/** Reads what is open, for counts. */
export class BacklogReader {
  private readonly client: Client;
  private readonly graceMs: number;
  private readonly limit = pLimit(READINGS_AT_ONCE);
  private readonly answers = new SlowAnswers<OpenAt>(MAX_REMEMBERED);

  /** @param graceMs a delivery that has been due for longer is overdue, milliseconds */
  constructor(client: Client, graceMs: number) {
    this.client = client;
    this.graceMs = graceMs;
  }

  /** The open deliveries that match, as they are or were some seconds ago: the longer reading takes, up to ten. */
  read(filter: OpenFilter): Promise<OpenAt> {
    const question = JSON.stringify([filter.account_id, filter.endpoint_id, filter.event_kind]);
    return this.answers.get(question, () => this.limit(() => this.readNow(filter)));
  }

  /** How many endpoints are failing, in all accounts. */
  async openIncidents(): Promise<number> {
    const query = toQuery([equals('WorkflowType', 'endpointIncident'), equals('ExecutionStatus', 'Running')]);
    return (await this.client.workflow.count(query)).count;
  }

  private async readNow(filter: OpenFilter): Promise<OpenAt> {
    const at = Date.now();
    return { at, overdueBefore: at - this.graceMs, ...(await readOpenDeliveries(this.client, filter)) };
  }
}
