import { CancellationScope, sleep } from '@temporalio/workflow';
import { change } from './changed.js';

// What must not be released: workflows that wait once more before they end, however they end.
export const {
  alertPeople,
  archiveDeliveries,
  deleteAccount,
  deliverEvent,
  deliverGroup,
  deliverTogether,
  endpointIncident,
  eraseSubject,
  fanOutEvent,
  releaseParked,
  replayDeliveries,
  secretRotation,
  verifyEndpoint,
} = change((workflow) => async (input) => {
  try {
    return await workflow(input);
  } finally {
    await CancellationScope.nonCancellable(() => sleep('1 minute'));
  }
});
