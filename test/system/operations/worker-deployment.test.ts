import assert from 'node:assert/strict';
import { fetchHistory, untilAtRest, workflowIdOf } from '../../support/history.js';
import { reply, startReceiver } from '../../support/receiver.js';
import { startSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Two builds, so two systems: which one goes on with a delivery is up to Temporal. */
describe('two builds in a worker deployment [world]', () => {
  it('hand over the deliveries in flight to the one that is made current, there and back', async () => {
    const deploymentName = `d${Date.now()}`;
    const deployed = { HOOKLINE_WORKER_DEPLOYMENT: deploymentName, HOOKLINE_RETRY_SCHEDULE: '1h' };
    const one = await startSystem({ ...deployed, HOOKLINE_BUILD_ID: 'one' });
    const two = await startSystem(
      { ...one.environment, ...deployed, HOOKLINE_BUILD_ID: '1.0-two' },
      'worker',
    );
    const receiver = await startReceiver();
    try {
      const { workflowService } = one.temporal.client;
      const namespace = one.settings.TEMPORAL_NAMESPACE;
      /** Temporal knows a build a moment after it began to ask for work. */
      const makeCurrent = (buildId: string) =>
        until(
          () =>
            workflowService
              .setWorkerDeploymentCurrentVersion({
                namespace,
                deploymentName,
                buildId,
                ignoreMissingTaskQueues: true,
              })
              .then(
                () => 'done',
                (error: Error) => error.message,
              ),
          (result) => result === 'done',
        );
      receiver.handle(reply(500));
      const client = await one.account();
      await client.register(receiver.url, { retry_schedule: Array.from({ length: 15 }, () => '1h') });
      const id = (await client.purchase()).deliveries[0]?.id ?? '';
      await client.deliveryUntil(id, ({ status }) => status === 'retrying');

      /** Has the delivery attempted once more. @returns the build that took its last workflow task */
      const attempt = async () => {
        const { attempts } = (await client.request('GET', `/v18.0/deliveries/${id}`)).json;
        const retried = await client.request('POST', `/v18.0/deliveries/${id}/retry`);
        assert.equal(retried.status, 200, retried.text);
        await client.deliveryUntil(id, (delivery) => delivery.attempts.length > attempts.length);
        await untilAtRest(one, workflowIdOf(client, id));
        const { events = [] } = await fetchHistory(one, workflowIdOf(client, id));
        const builds = (events ?? []).map(
          (event) => event.workflowTaskCompletedEventAttributes?.deploymentVersion?.buildId,
        );
        return builds.filter(Boolean).at(-1);
      };
      // Task queues hear of the current build a moment later.
      for (const build of ['1.0-two', 'one']) {
        await makeCurrent(build);
        await until(attempt, (by) => by === build);
      }
    } finally {
      await receiver.close();
      await two.stop();
      await one.stop();
    }
  });
});
