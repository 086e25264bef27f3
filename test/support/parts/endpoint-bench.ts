import assert from 'node:assert/strict';
import {
  type AttemptSlot,
  EndpointConditions,
} from '../../../src/domain/endpoint/breaker/endpoint-conditions.js';
import { TIMINGS } from '../../../src/domain/timings.js';

export const SLOW_MS = 2_000;
export const QUICK_MS = SLOW_MS / 4;
export const MOST_DIRECT = 200;
export const START = Date.parse('2026-11-24T12:00:00.000Z');

/** A process's knowledge of endpoints, at a time that the tests set. */
export class EndpointBench {
  now = START;
  readonly conditions = new EndpointConditions(
    { slowMs: SLOW_MS, timings: TIMINGS, maxDirect: MOST_DIRECT },
    () => this.now,
  );

  iso(ms: number): string {
    return new Date(this.now + ms).toISOString();
  }

  async begin(id = 'ep_1', isDirect = true): Promise<AttemptSlot> {
    const slot = await this.conditions.take(id, { isDirect, waitMs: 0, isChosen: true });
    assert.ok(slot.kind === 'slot');
    return slot;
  }

  async attempt(id: string, taken: boolean, ms: number): Promise<void> {
    const slot = await this.begin(id);
    this.now += ms;
    slot.end(taken);
  }

  isIsolated(id = 'ep_1'): boolean {
    return this.conditions.isIsolated(id, undefined);
  }
}
