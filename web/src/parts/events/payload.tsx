import { Card } from '../../shell/page.js';
import { Code } from '../../ui/copy.js';
import { indentJson } from './payload-text.js';
import type { EventWithText } from './use-event.js';

/** The payload of an event as it was received, or why nobody can read it. */
export function Payload({ event }: { event: EventWithText }) {
  const { payload_erased, payloadText } = event;
  return (
    <Card title="Payload">
      {payload_erased ? (
        <p>It was erased, with the key that opened it: nobody can read it any more.</p>
      ) : payloadText === '' || payloadText === 'null' ? (
        <p className="muted">The payload is no longer kept.</p>
      ) : (
        <>
          <Code text={indentJson(payloadText)} copied={payloadText} name="the payload" />
          <p className="muted small">
            Each value as it was received. What is copied is the very text, with its own white space.
          </p>
        </>
      )}
    </Card>
  );
}
