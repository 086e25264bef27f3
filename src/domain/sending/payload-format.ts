import { createdAt } from '../basics/id-time.js';

/**
 * Forms in which an event is sent: its payload byte for byte as it was posted; its id, kind and address alone; or a
 * CloudEvent (1.0), whose HTTP binding has a structured mode and a binary mode.
 */
export const PAYLOAD_FORMATS = ['event', 'thin', 'cloudevents_structured', 'cloudevents_binary'] as const;

export type PayloadFormat = (typeof PAYLOAD_FORMATS)[number];

/** An event to be sent. */
export interface SentEvent {
  account_id: string;
  event_id: string;
  event_kind: string;
  /** Opened. */
  payload: string;
  /** Address of the event in the API. */
  url: string;
}

/** Body and headers of a request. */
export interface FormattedBody {
  body: string;
  headers: Record<string, string>;
}

const JSON_TYPE = 'application/json';

const FORMATS: Record<PayloadFormat, (event: SentEvent) => FormattedBody> = {
  event: ({ payload }) => ({ body: payload, headers: { 'content-type': JSON_TYPE } }),
  thin: ({ event_id, event_kind, url }) => ({
    body: JSON.stringify({ id: event_id, kind: event_kind, url }),
    headers: { 'content-type': JSON_TYPE },
  }),
  // HTTP Protocol Binding 1.0.2, section 3.2. The payload is put in as text: it stays as it was posted.
  cloudevents_structured: (event) => {
    const attributes = JSON.stringify({ ...attributesOf(event), datacontenttype: JSON_TYPE });
    return {
      body: `${attributes.slice(0, -1)},"data":${event.payload}}`,
      headers: { 'content-type': 'application/cloudevents+json' },
    };
  },
  // Section 3.1 there.
  cloudevents_binary: (event) => {
    const attributes = Object.entries(attributesOf(event)).map(([name, value]) => [`ce-${name}`, value]);
    return { body: event.payload, headers: { 'content-type': JSON_TYPE, ...Object.fromEntries(attributes) } };
  },
};

/** Body and headers of an event in a format. */
export function inFormat(format: PayloadFormat, event: SentEvent): FormattedBody {
  return FORMATS[format](event);
}

/** Attributes of a CloudEvent. Source and id together name an event, so the source does not depend on an address. */
function attributesOf({ account_id, event_id, event_kind }: SentEvent): Record<string, string> {
  return {
    specversion: '1.0',
    id: event_id,
    source: `urn:hookline:account:${account_id}`,
    type: event_kind,
    time: createdAt(event_id),
  };
}
