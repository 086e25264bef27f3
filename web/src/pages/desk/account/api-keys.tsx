import { actingFor, api } from '../../../api/client.js';
import type { Account, ApiKey } from '../../../api/types.js';
import { Card } from '../../../shell/page.js';
import { useHome } from '../../../shell/use-session.js';
import { Badge } from '../../../ui/badge.js';
import { Confirm } from '../../../ui/dialog.js';
import { List, PAGE_SIZE, useList } from '../../../ui/list.js';
import { Empty } from '../../../ui/states.js';
import { Table } from '../../../ui/table.js';
import { Time } from '../../../ui/time.js';
import { useAct } from '../../../ui/use-act.js';
import { CreateKey } from './create-key.js';

/**
 * An account's API keys, also those that have ended.
 *
 * @param grantable scopes that a new one can have; none: keys can only be read
 */
export function ApiKeys({
  account: { id, name },
  grantable,
}: {
  account: Account;
  grantable: readonly string[];
}) {
  const list = useList<ApiKey>(['api_keys', id], (after) =>
    api.get('/v18.0/api_keys', { headers: actingFor(id), params: { query: { limit: PAGE_SIZE, after } } }),
  );
  const create = grantable.length > 0 && <CreateKey accountId={id} grantable={grantable} />;
  return (
    <Card title={`API keys of ${name}`} actions={create} bare>
      <List
        list={list}
        empty={
          <Empty title="No API keys yet">
            <p>A key lets the account's own systems post events and call the API.</p>
          </Empty>
        }
      >
        {(rows) => (
          <Table
            head={[
              'Key',
              'Status',
              'Scopes',
              'Last used',
              grantable.length > 0 && { name: 'Actions', right: true },
            ]}
          >
            {rows.map((key) => (
              <tr key={key.id}>
                <td>
                  <strong>{key.name}</strong>
                  <div className="muted small">
                    <code className="wrap">{key.id}</code>
                  </div>
                </td>
                <td>
                  <KeyStatus apiKey={key} />
                </td>
                <td className="wide muted small">{key.scopes.join(', ')}</td>
                <td className="wide muted">
                  {key.last_used_at ? <Time at={key.last_used_at} show="relative" /> : 'Never'}
                </td>
                {grantable.length > 0 && (
                  <td className="right">{!hasEnded(key) && <Revoke accountId={id} apiKey={key} />}</td>
                )}
              </tr>
            ))}
          </Table>
        )}
      </List>
    </Card>
  );
}

const hasExpired = ({ expires_at }: ApiKey) =>
  expires_at !== undefined && Date.parse(expires_at) <= Date.now();
const hasEnded = (key: ApiKey) => key.revoked_at !== undefined || hasExpired(key);

function KeyStatus({ apiKey }: { apiKey: ApiKey }) {
  const { revoked_at, expires_at } = apiKey;
  const [tone, text, verb, at] =
    revoked_at !== undefined
      ? (['', 'Revoked', '', revoked_at] as const)
      : hasExpired(apiKey)
        ? (['', 'Expired', '', expires_at] as const)
        : (['good', 'Active', 'ends ', expires_at] as const);
  return (
    <>
      <Badge tone={tone}>{text}</Badge>
      {at && (
        <div className="muted small">
          {verb}
          <Time at={at} show="relative" />
        </div>
      )}
    </>
  );
}

function Revoke({ accountId, apiKey: { id, name } }: { accountId: string; apiKey: ApiKey }) {
  const { act } = useAct();
  const isOwn = useHome().data?.id === id;
  return (
    <Confirm
      trigger={<button type="button" className="button small danger" aria-label={`Revoke ${name}`} />}
      label="Revoke…"
      title={`Revoke the key ${name}?`}
      action="Revoke"
      danger
      act={() =>
        act(
          () =>
            api.delete('/v18.0/api_keys/{id}', { headers: actingFor(accountId), params: { path: { id } } }),
          'The key is revoked. It stops working within 5 seconds.',
          { quiet: true },
        )
      }
    >
      <p>Whatever calls with it is refused from then on. This cannot be undone.</p>
      {isOwn && (
        <p className="notice warn">You have signed in with this very key, and are signed out with it.</p>
      )}
    </Confirm>
  );
}
