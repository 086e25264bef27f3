import { useNavigate } from '@tanstack/react-router';
import { AT_HOME, api } from '../api/client.js';
import type { Account } from '../api/types.js';
import { To } from '../ui/link.js';
import { List, PAGE_SIZE, useList } from '../ui/list.js';
import { Empty } from '../ui/states.js';
import { Card, PageHead } from './page.js';

/** In place of a page that is one account's: chooses whose. */
export function ChooseAccount() {
  const navigate = useNavigate();
  const list = useList<Account>(['accounts'], (after) =>
    api.get('/v18.0/accounts', { headers: AT_HOME, params: { query: { limit: PAGE_SIZE, after } } }),
  );
  const choose = (account: string) =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, account }) } as never);
  return (
    <>
      <PageHead title="Choose an account" about="This page is about one account at a time." />
      <Card bare>
        <List
          list={list}
          empty={
            <Empty title="No accounts yet">
              <To page="accounts" className="button primary">
                Go to the accounts
              </To>
            </Empty>
          }
        >
          {(rows) => (
            <ul className="choices-of-accounts">
              {rows.map(({ id, name }) => (
                <li key={id}>
                  <button type="button" className="button quiet" onClick={() => choose(id)}>
                    {name}
                  </button>
                </li>
              ))}
            </ul>
          )}
        </List>
      </Card>
    </>
  );
}
