import { deepEqual } from 'node:assert/strict';
import type { WorkflowHandle } from '@temporalio/client';
import type { Alert } from '../../../src/domain/alert/alert.js';
import { type AlertDigest, AlertInbox } from '../../../src/domain/alert/alert-inbox.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { AlertPeopleInput } from '../../../workflows/alert-people.js';
import type { alertPeople } from '../../../workflows/index.js';
import { raiseAlert } from '../../../workflows/messages.js';
import { startStubWorker } from '../../support/parts/stub-worker.js';
import { promised } from '../../support/promised.js';
import { execution, firstRun, type Run, type Scenarios, type Stage } from './stage.js';

const INPUT: AlertPeopleInput = { channel: 'chat', hold_ms: 500, interval_ms: 200 };

function alert(kind: string, lastedMs = 0): Alert {
  const now = Date.now();
  return {
    id: newId('event'),
    kind,
    at: new Date(now).toISOString(),
    since: new Date(now - lastedMs).toISOString(),
    account_id: newId('account'),
    endpoint_id: newId('endpoint'),
    host: 'shop.example.com',
    said: 'got a 503 response',
  };
}

/**
 * Raises alerts, with a channel of the scenario's own.
 *
 * @param send what the channel does
 * @param then what is done to the execution after that
 */
async function play(
  stage: Stage,
  alerts: readonly Alert[],
  send: (message: AlertDigest) => Promise<void>,
  input = INPUT,
  then: (handle: WorkflowHandle) => Promise<unknown> = async () => {},
): Promise<Run> {
  const { temporal } = stage.system;
  const workflowId = newId('request');
  const stop = await startStubWorker(temporal, workflowId, { sendAlerts: send });
  try {
    const [first, ...others] = alerts;
    const handle = await temporal.client.workflow.signalWithStart<typeof alertPeople, [Alert]>(
      'alertPeople',
      {
        workflowId,
        taskQueue: workflowId,
        args: [input],
        signal: raiseAlert,
        signalArgs: [first ?? alert('endpoint.disabled')],
      },
    );
    for (const one of others) await handle.signal(raiseAlert, one);
    await then(handle);
    return await execution(stage, workflowId);
  } finally {
    await stop();
  }
}

/** Every way through the workflow that alerts people. */
export const ALERTS: Scenarios = {
  'alert-people-held-and-sent': {
    play: (stage) => play(stage, [alert('endpoint.disabled'), alert('endpoint.failing')], async () => {}),
  },
  'alert-people-cancelled-while-sending': {
    async play(stage) {
      const { promise: firstTry, resolve: tried } = promised();
      const fail = async () => {
        tried();
        throw new Error('The mail server is away.');
      };
      const cancel = async (handle: WorkflowHandle) => {
        await firstTry;
        await handle.cancel();
      };
      return play(stage, [alert('endpoint.disabled')], fail, INPUT, cancel);
    },
  },
  'alert-people-carried-on-while-sending': {
    suggestAfter: 20,
    async play(stage) {
      const many = Array.from({ length: 40 }, () => alert('endpoint.disabled'));
      const sent: string[] = [];
      let tries = 0;
      const run = await play(stage, many, async ({ alerts }) => {
        tries += 1;
        if (tries < 5) throw new Error('The mail server is away.');
        sent.push(...alerts.map(({ id }) => id));
      });
      deepEqual(
        sent,
        many.map(({ id }) => id),
      );
      return firstRun(stage, run);
    },
  },
  'alert-people-carried-on': {
    async play(stage) {
      const inbox = new AlertInbox(INPUT.hold_ms);
      inbox.add(alert('endpoint.recovered', 60_000));
      const so_far = { inbox: inbox.state, messages: 3, next_at: Date.now() + 300 };
      return play(stage, [alert('endpoint.disabled')], async () => {}, { ...INPUT, so_far });
    },
  },
};
