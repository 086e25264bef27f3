import { sleep } from '@temporalio/workflow';
import { change } from './changed.js';

// What must not be released: workflows that wait before they begin, over histories of ones that did not.
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
  await sleep('1 minute');
  return workflow(input);
});
