import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { DeliveryRecord } from '../src/domain/delivery.js';

/** Who steers a delivery: an API key's id, or whatever name an operator gives in Temporal UI. */
export interface Operator {
  by?: string;
}

/** Make an attempt now. Refused while one is in flight, and while the delivery is paused. */
export const retryNow = defineUpdate<DeliveryRecord, [Operator]>('retryNow');

/** Give the delivery up. Refused while an attempt is in flight: it may be delivering. */
export const cancel = defineUpdate<DeliveryRecord, [Operator]>('cancel');

/** Make no further attempt until it is resumed, at most for the park limit. */
export const pause = defineUpdate<DeliveryRecord, [Operator]>('pause');

/** End a pause; the schedule goes on where it stood. */
export const resume = defineUpdate<DeliveryRecord, [Operator]>('resume');

/** The delivery's endpoint takes deliveries again, or is gone: look at it anew. Only a parked delivery heeds it. */
export const endpointChanged = defineSignal('endpointChanged');
