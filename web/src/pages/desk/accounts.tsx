import { useState } from 'react';
import { AT_HOME, api } from '../../api/client.js';
import type { Account } from '../../api/types.js';
import { Card, PageHead } from '../../shell/page.js';
import { mayAct, useHome } from '../../shell/use-session.js';
import { Badge, capitalize } from '../../ui/badge.js';
import { Confirm } from '../../ui/dialog.js';
import { TextField } from '../../ui/field.js';
import { To } from '../../ui/link.js';
import { List, PAGE_SIZE, useList } from '../../ui/list.js';
import { Empty } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { useAct } from '../../ui/use-act.js';
import { type MadeKey, NewKey } from './account/new-key.js';

/** The page of all accounts: of the installation, or of a platform. */
export function Accounts() {
  const home = useHome().data;
  const list = useList<Account>(['accounts'], (after) =>
    api.get('/v18.0/accounts', { headers: AT_HOME, params: { query: { limit: PAGE_SIZE, after } } }),
  );
  return (
    <>
      <PageHead
        title="Accounts"
        about="Each account has its own endpoints, events, keys and limits, and sees nothing of others."
        actions={mayAct(home) && <NewAccount />}
      />
      <Card bare>
        <List list={list} empty={<Empty title="No accounts yet" />}>
          {(rows) => (
            <Table head={['Account', 'Status', 'Reference', 'Since']}>
              {rows.map((account) => (
                <tr key={account.id} className="linked">
                  <td>
                    <To page="accounts/$id" id={account.id} className="row-link">
                      {account.name}
                    </To>
                    <div className="muted small">
                      <code className="wrap">{account.id}</code>
                    </div>
                  </td>
                  <td>
                    <AccountBadge status={account.status} />
                  </td>
                  <td className="muted wrap">{account.reference ?? '–'}</td>
                  <td className="muted">
                    <Time at={account.created_at} show="relative" />
                  </td>
                </tr>
              ))}
            </Table>
          )}
        </List>
      </Card>
    </>
  );
}

export function AccountBadge({ status }: Pick<Account, 'status'>) {
  const tone = status === 'active' ? 'good' : status === 'deleting' ? 'warn' : '';
  return <Badge tone={tone}>{capitalize(status)}</Badge>;
}

/** Makes an account; its first key is shown once. */
function NewAccount() {
  const { act } = useAct();
  const [name, setName] = useState('');
  const [reference, setReference] = useState('');
  const [key, setKey] = useState<MadeKey>();
  return (
    <>
      <Confirm
        trigger={<button type="button" className="button primary" />}
        label="New account"
        title="New account"
        action="Create"
        ready={name.trim() !== ''}
        act={async () => {
          const account = await act(
            () =>
              api.post('/v18.0/accounts', {
                headers: AT_HOME,
                body: { name, ...(reference !== '' && { reference }) } as never,
              }),
            'The account is there.',
            { quiet: true },
          );
          setKey(account?.api_key);
        }}
      >
        <TextField label="Name" maxLength={256} value={name} set={setName} />
        <TextField
          label="Reference"
          hint="Your own name for it, such as a customer number. Optional."
          maxLength={128}
          value={reference}
          set={setReference}
        />
      </Confirm>
      <NewKey title="The account's first API key" made={key} close={() => setKey(undefined)} />
    </>
  );
}
