import { deepEqual, equal } from 'node:assert/strict';
import type { Alert } from '../../../src/domain/alert/alert.js';
import { AlertInbox, MAX_PENDING } from '../../../src/domain/alert/alert-inbox.js';

const HOLD = 300_000;
const START = Date.parse('2026-11-21T12:00:00Z');
const time = (ms: number) => new Date(START + ms).toISOString();

let made = 0;
/** An alert about an endpoint whose incident began at START. */
function alert(kind: string, at: number, endpoint_id = 'ep_1', since = 0): Alert {
  made += 1;
  return { id: `evt_${made}`, kind, at: time(at), since: time(since), account_id: 'acct_1', endpoint_id };
}
const kinds = (inbox: AlertInbox, at: number) => inbox.take(START + at).alerts.map(({ kind }) => kind);

describe('alerts on their way to people', () => {
  it('hold a failure until it has lasted', () => {
    const inbox = new AlertInbox(HOLD);
    inbox.add(alert('endpoint.failing', 0));
    equal(inbox.nextAt, START + HOLD);
    deepEqual(kinds(inbox, HOLD - 1), []);
    deepEqual(kinds(inbox, HOLD), ['endpoint.failing']);
    equal(inbox.nextAt, undefined);
  });

  it('say nothing of a failure that is over before, nor of its end', () => {
    const inbox = new AlertInbox(HOLD);
    inbox.add(alert('endpoint.failing', 0));
    inbox.add(alert('endpoint.recovered', 60_000));
    equal(inbox.nextAt, undefined);
  });

  it('say nothing of the end of a failure that another run has held and nobody heard of', () => {
    const inbox = new AlertInbox(HOLD);
    inbox.add(alert('endpoint.recovered', HOLD - 1));
    equal(inbox.nextAt, undefined);
  });

  it('say of a failure that lasted that it is over, also to a run that does not know of it', () => {
    const inbox = new AlertInbox(HOLD);
    inbox.add(alert('endpoint.recovered', HOLD));
    deepEqual(kinds(inbox, HOLD), ['endpoint.recovered']);
  });

  it('put a disabled endpoint in the place of its failure, at once', () => {
    const inbox = new AlertInbox(HOLD);
    inbox.add(alert('endpoint.failing', 0));
    inbox.add(alert('endpoint.failing', 0, 'ep_2'));
    inbox.add(alert('endpoint.disabled', 1_000));
    deepEqual(kinds(inbox, 1_000), ['endpoint.disabled']);
    deepEqual(kinds(inbox, HOLD), ['endpoint.failing']);
  });

  it('are sent once, however often they are raised, also by the next run', () => {
    const inbox = new AlertInbox(0);
    const raised = alert('endpoint.disabled', 0);
    inbox.add(raised);
    inbox.add(raised);
    equal(inbox.take(START).alerts.length, 1);
    const next = new AlertInbox(0, JSON.parse(JSON.stringify(inbox.state)));
    next.add(raised);
    equal(next.nextAt, undefined);
  });

  it('are sent before what came meanwhile, if they could not be sent yet', () => {
    const inbox = new AlertInbox(0);
    for (let index = 0; index < MAX_PENDING + 2; index += 1)
      inbox.add(alert('endpoint.disabled', 0, `ep_${index}`));
    const digest = inbox.take(START);
    for (let index = 0; index < 3; index += 1) inbox.add(alert('endpoint.recovered', HOLD, `ep_${index}`));
    inbox.putBack(digest);
    const again = inbox.take(START + HOLD);
    deepEqual(again.alerts, digest.alerts);
    equal(again.left_out, 2 + 3);
  });

  it('go on in the next run', () => {
    const inbox = new AlertInbox(HOLD);
    inbox.add(alert('endpoint.failing', 0));
    const next = new AlertInbox(HOLD, JSON.parse(JSON.stringify(inbox.state)));
    deepEqual(kinds(next, HOLD), ['endpoint.failing']);
  });

  it('are counted beyond what a message lists, and counted again if it was lost', () => {
    const inbox = new AlertInbox(0);
    for (let index = 0; index < MAX_PENDING + 3; index += 1)
      inbox.add(alert('endpoint.disabled', 0, `ep_${index}`));
    const digest = inbox.take(START);
    deepEqual([digest.alerts.length, digest.left_out], [MAX_PENDING, 3]);
    inbox.lost(digest);
    inbox.add(alert('endpoint.disabled', 1));
    equal(inbox.take(START + 1).left_out, MAX_PENDING + 3);
  });
});
