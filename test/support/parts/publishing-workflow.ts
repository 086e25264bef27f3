import { createNexusServiceClient } from '@temporalio/workflow';
import * as nexus from 'nexus-rpc';

/** The service as a team that publishes declares it for itself. */
const hookline = nexus.service('hookline', {
  publish: nexus.operation<object, { id: string }>(),
  publishAndWait: nexus.operation<object, { deliveries: { status: string }[] }>(),
});

/** A workflow of another team, which publishes an event. */
export async function publishing(
  endpoint: string,
  operation: 'publish' | 'publishAndWait',
  event: object,
): Promise<unknown> {
  return createNexusServiceClient({ endpoint, service: hookline }).executeOperation(operation, event, {
    scheduleToCloseTimeout: '10m',
  });
}
