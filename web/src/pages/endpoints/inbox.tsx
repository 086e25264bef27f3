import { useNavigate } from '@tanstack/react-router';
import { api } from '../../api/client.js';
import type { ReceivedRequest } from '../../api/types.js';
import { indentJson } from '../../parts/events/payload-text.js';
import { Card } from '../../shell/page.js';
import { Badge } from '../../ui/badge.js';
import { Code } from '../../ui/copy.js';
import { To, useRole } from '../../ui/link.js';
import { List, PAGE_SIZE, useList } from '../../ui/list.js';
import { Empty } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { useAct } from '../../ui/use-act.js';

/** Makes a test inbox for all kinds, and shows it. */
export function MakeInbox() {
  const role = useRole();
  const navigate = useNavigate();
  const { act, busy } = useAct();
  const make = async () => {
    const inbox = await act(() =>
      api.post('/v18.0/inboxes', { body: { event_kinds: ['*'], description: 'Test inbox' } }),
    );
    if (inbox) void navigate({ to: '/$role/endpoints/$id', params: { role, id: inbox.id } } as never);
  };
  return (
    <button type="button" className="button" disabled={busy} onClick={() => void make()}>
      Make a test inbox
    </button>
  );
}

/** Requests that a test inbox has received, the latest first, as they come. */
export function Received({ id }: { id: string }) {
  const list = useList(
    ['received', id],
    (after) =>
      api.get('/v18.0/inboxes/{id}/requests', {
        params: { path: { id }, query: { limit: PAGE_SIZE, after } },
      }),
    true,
  );
  return (
    <Card bare>
      <List
        list={list}
        empty={
          <Empty title="Nothing has arrived yet">
            <p>
              Events of its kinds arrive here by themselves. The inbox is deleted an hour after it was made.
            </p>
          </Empty>
        }
      >
        {(rows) =>
          rows.map((request, index) => <Request key={request.id} request={request} open={index === 0} />)
        }
      </List>
    </Card>
  );
}

function Request({ request, open }: { request: ReceivedRequest; open: boolean }) {
  const { event_id, received_at, headers, body, verified, signature_error } = request;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <details className="attempt" open={open}>
      <summary>
        <strong>{headers['webhook-event-kind']}</strong>{' '}
        <Badge tone={verified ? 'good' : 'bad'}>{verified ? 'Signature verified' : 'Signature wrong'}</Badge>{' '}
        <span className="muted">
          <Time at={received_at} show="relative" />
        </span>
      </summary>
      <div className="stack">
        {signature_error && <p>{signature_error}.</p>}
        <p className="small">
          <To page="events/$id" id={event_id}>
            The event
          </To>
        </p>
        <Code text={lines.join('\n')} name="the headers" />
        {body === undefined ? (
          <p className="muted">The payload was erased.</p>
        ) : (
          <Code text={indentJson(body)} copied={body} name="the body" />
        )}
      </div>
    </details>
  );
}
