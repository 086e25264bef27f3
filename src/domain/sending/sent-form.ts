import { payloadFor } from '../event/profile-updated.js';
import type { DeliveryOptions } from './delivery-options.js';
import { type FormattedBody, inFormat, type SentEvent } from './payload-format.js';

/** How an event is put into a request. With it and the payload, the same body can be made again. */
export interface SentForm
  extends Pick<DeliveryOptions, 'payload_format' | 'include_values'>,
    Pick<SentEvent, 'event_kind' | 'url'> {}

/** Event whose form is known. */
type FormlessEvent = Pick<SentEvent, 'account_id' | 'event_id' | 'payload'>;

/** Body of an event, and the headers that belong to its format. */
export function sentIn(form: SentForm, event: FormlessEvent): FormattedBody {
  const { payload_format = 'event', event_kind, url } = form;
  return inFormat(payload_format, {
    ...{ ...event, event_kind, url },
    payload: payloadFor(form, event_kind, event.payload),
  });
}

/** The body once more; `undefined` if the payload is erased, unless none of it was sent. */
export function bodyAgain(
  form: SentForm,
  event: Omit<FormlessEvent, 'payload'>,
  payload: string | undefined,
): string | undefined {
  if (payload === undefined && form.payload_format !== 'thin') return undefined;
  return sentIn(form, { ...event, payload: payload ?? '{}' }).body;
}
