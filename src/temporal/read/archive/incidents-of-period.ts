import type { Client } from '@temporalio/client';
import type { EndpointKey } from '../../../domain/endpoint/endpoint-key.js';
import type { TimelineItem } from '../../../domain/explain/timeline.js';
import { ENDPOINT_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';
import { isCurrent } from '../delivery-view.js';
import { readIncidents } from '../timeline/timeline-incidents.js';
import { anyOf, equals, isAfter, toQuery } from '../visibility/query.js';

/** How long the list of endpoints with incidents is used, milliseconds: within one part of an archive run. */
const LISTED_FOR_MS = 10_000;

/**
 * The incidents of endpoints, for the timelines of many deliveries. Most endpoints have none: one query tells which have, and their incidents
 * are read once.
 */
export class IncidentsOfPeriod {
  private readonly client: Client;
  private readonly since: Date;
  private readonly read = new Map<string, Promise<TimelineItem[]>>();
  private failing: { at: number; endpoints: Promise<Set<string>> } | undefined;

  /** @param since incidents that ended before are not asked for */
  constructor(client: Client, since: Date) {
    this.client = client;
    this.since = since;
  }

  /** As {@link readIncidents}. */
  async of(endpoint: EndpointKey, from: string, until: Date): Promise<TimelineItem[]> {
    const { endpoint_id } = endpoint;
    if (Date.parse(from) < this.since.getTime()) return readIncidents(this.client, endpoint, from, until);
    if (!(await this.withIncidents()).has(endpoint_id)) return [];
    const reading = this.read.get(endpoint_id) ?? this.readAll(endpoint);
    return (await reading).filter(({ at }) => at >= from && at <= until.toISOString());
  }

  /** What cannot be read is asked for again by the next one. */
  private readAll(endpoint: EndpointKey): Promise<TimelineItem[]> {
    const { endpoint_id } = endpoint;
    const reading = readIncidents(this.client, endpoint, this.since.toISOString(), new Date());
    this.read.set(endpoint_id, reading);
    reading.catch(() => {
      if (this.read.get(endpoint_id) === reading) this.read.delete(endpoint_id);
    });
    return reading;
  }

  private withIncidents(): Promise<Set<string>> {
    const { failing } = this;
    if (failing && Date.now() - failing.at <= LISTED_FOR_MS) return failing.endpoints;
    const listed = { at: Date.now(), endpoints: this.list() };
    this.failing = listed;
    this.read.clear();
    listed.endpoints.catch(() => {
      if (this.failing === listed) this.failing = undefined;
    });
    return listed.endpoints;
  }

  private async list(): Promise<Set<string>> {
    const query = toQuery([
      equals('WorkflowType', 'endpointIncident'),
      isCurrent,
      anyOf([equals('ExecutionStatus', 'Running')], [isAfter('CloseTime', this.since)]),
    ]);
    const endpoints = new Set<string>();
    for await (const { typedSearchAttributes } of this.client.workflow.list({ query, pageSize: 1_000 }))
      for (const id of typedSearchAttributes.get(ENDPOINT_ATTRIBUTE) ?? []) endpoints.add(id);
    return endpoints;
  }
}
