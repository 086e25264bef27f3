import assert from 'node:assert/strict';
import { MockActivityEnvironment } from '@temporalio/testing';
import {
  createEndpointActivities,
  type IncidentPorts,
} from '../../../activities/endpoint/endpoint-incident.js';
import type { FailingMark } from '../../../src/domain/endpoint/breaker/circuit-breaker.js';
import { recordedTime } from '../../../src/domain/time/recorded-time.js';

const ENDPOINT = { account_id: 'acct_1', endpoint_id: 'ep_1' };
const FEW = { since: '2026-11-28T20:00:00.000Z' };
const MANY = { ...FEW, backoff_until: '2026-11-28T20:00:05.000Z' };

describe('the end of an incident', () => {
  /** The activities, and the calls that they make, in order. @param mark that the endpoint has */
  function activities(mark: FailingMark | undefined) {
    const asked: string[] = [];
    const ports = {
      endpoints: {
        async setFailing(_account: string, _endpoint: string, failing: FailingMark | null) {
          asked.push(failing ? 'mark' : 'unmark');
          return mark;
        },
        watchers: async () => [],
      },
      incidentStore: { ended: async () => {} },
      ledger: { release: async () => void asked.push('release') },
    } as unknown as IncidentPorts;
    return { ...createEndpointActivities(ports), asked };
  }

  /** @param release the incident knows that deliveries had to wait @param attempt try of the activity */
  async function close(mark: FailingMark | undefined, release = false, attempt = 1): Promise<string> {
    const { closeIncident, asked } = activities(mark);
    const event = {
      account_id: ENDPOINT.account_id,
      kind: 'endpoint.recovered',
      at: recordedTime(FEW.since),
      transition: 'run_1:endpoint.recovered',
      payload: {},
    } as const;
    const environment = new MockActivityEnvironment({ attempt });
    await environment.run(closeIncident, { ...ENDPOINT, event, release });
    return asked.join(' ');
  }

  it('releases what waited because a process had opened the circuit breaker before the incident knew', async () => {
    assert.equal(await close(MANY), 'unmark release');
    assert.equal(await close(FEW), 'unmark');
    assert.equal(await close(undefined), 'unmark');
  });

  it('releases what waited as the incident knows, whatever the mark says by now', async () => {
    assert.equal(await close(undefined, true), 'unmark release');
  });

  it('releases in a repeat, which does not know whether an earlier try has removed the mark', async () => {
    assert.equal(await close(undefined, false, 2), 'unmark release');
  });

  it('removes a mark that was made while it was noted, before what waited meanwhile is released', async () => {
    const { releaseEndpoint, asked } = activities(MANY);
    await releaseEndpoint(ENDPOINT);
    assert.equal(asked.join(' '), 'unmark release');
  });
});
