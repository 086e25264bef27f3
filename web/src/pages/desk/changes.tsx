import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.js';
import type { Change, InstallationChange } from '../../api/types.js';
import { AccountLink } from '../../parts/account-link.js';
import { Card, PageHead } from '../../shell/page.js';
import type { PagePath } from '../../shell/page-path.js';
import { useWhole } from '../../shell/use-session.js';
import { capitalize } from '../../ui/badge.js';
import { TextField } from '../../ui/field.js';
import { To, useRole } from '../../ui/link.js';
import { List, PAGE_SIZE, useList } from '../../ui/list.js';
import { Empty } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { type ChangeGroup, groupChanges, sentenceOf } from './change-groups.js';
import { differences } from './differences.js';

interface ChangeFilters {
  resource?: string;
  actor?: string;
}

/** The page of who changed what. */
export function Changes() {
  const role = useRole();
  const navigate = useNavigate();
  const { resource, actor } = useSearch({ strict: false }) as ChangeFilters;
  const filters = { ...(resource && { resource }), ...(actor && { actor }) };
  const whole = useWhole();
  const list = useList<AnyChange>(['changes', filters, whole], (after) => {
    const params = { query: { ...filters, limit: PAGE_SIZE, after } };
    return whole ? api.get('/v18.0/installation/changes', { params }) : api.get('/v18.0/changes', { params });
  });
  const set = (more: ChangeFilters) =>
    void navigate({
      to: '/$role/changes',
      params: { role },
      search: { ...filters, ...more },
      replace: true,
    } as never);
  return (
    <>
      <PageHead title="Changes" about="Who made what of it, from where and why, newest first." />
      <div className="filters">
        <TextFilter
          key={`r ${resource}`}
          label="Resource"
          placeholder="endpoint:ep_…"
          value={resource ?? ''}
          set={(value) => set({ resource: value })}
        />
        <TextFilter
          key={`a ${actor}`}
          label="Actor"
          placeholder="key_…, operator, incident"
          value={actor ?? ''}
          set={(value) => set({ actor: value })}
        />
      </div>
      <Card bare>
        <List list={list} empty={<Empty title="Nothing was changed" />}>
          {(rows) => (
            <Table head={['What', whole && 'Account', 'Who', 'Details', 'When']}>
              {groupChanges(rows).map((group) => (
                <ChangeRow key={group.change.id} group={group} />
              ))}
            </Table>
          )}
        </List>
      </Card>
    </>
  );
}

const OUTCOMES = { refused: 'refused', unknown: 'not known yet whether it was done' };

type AnyChange = Change & Partial<InstallationChange>;

function ChangeRow({ group }: { group: ChangeGroup<AnyChange> }) {
  const { change, others } = group;
  const { actor, reason, address, resource, version, account, outcome } = change;
  const rows = differences(change);
  const who = actor.name ?? actor.person ?? actor.id;
  return (
    <tr>
      <td>
        <strong>{capitalize(sentenceOf(group, who))}</strong>
        {outcome !== 'done' && <span className="muted"> ({OUTCOMES[outcome]})</span>}
        <div className="small">
          {others.length === 0 && <Resource resource={resource} account={account?.id} />}{' '}
          {version !== undefined && <span className="muted">version {version}</span>}
        </div>
      </td>
      {account && (
        <td>
          <AccountLink account={account} />
        </td>
      )}
      <td className="small">
        <To page="changes" search={{ actor: actor.person ?? actor.id }}>
          {actor.name ?? <code className="wrap">{who}</code>}
        </To>
        {address && <div className="muted">from {address}</div>}
      </td>
      <td className="wide">
        {reason && <p>{reason}</p>}
        {others.length > 0 && (
          <details>
            <summary className="small muted">All {others.length + 1}</summary>
            <ul className="small">
              {[change, ...others].map(({ id, resource: each }) => (
                <li key={id}>
                  <Resource resource={each} account={account?.id} />
                </li>
              ))}
            </ul>
          </details>
        )}
        {rows.length > 0 && (
          <details>
            <summary className="small muted">{rows.map(({ pointer }) => pointer).join(', ')}</summary>
            <dl className="facts small">
              {rows.map(({ pointer, before, after }) => (
                <div key={pointer} className="contents">
                  <dt>
                    <code>{pointer}</code>
                  </dt>
                  <dd>
                    {before !== undefined && <del className="muted">{before}</del>}{' '}
                    {after !== undefined && <ins>{after}</ins>}
                  </dd>
                </div>
              ))}
            </dl>
          </details>
        )}
      </td>
      <td className="muted">
        <Time at={change.at} show="relative" />
      </td>
    </tr>
  );
}

/** Kinds of resources that have a page of their own. */
const PAGES: Record<string, PagePath> = {
  endpoint: 'endpoints/$id',
  delivery: 'deliveries/$id',
  replay: 'replays/$id',
  event_kind: 'kinds/$id',
  account: 'accounts/$id',
  erasure: 'erasures/$id',
};

function Resource({ resource, account }: { resource: string; account: string | undefined }) {
  const [kind = '', id = ''] = resource.split(/:(.*)/);
  const page = PAGES[kind];
  const text = <code className="wrap">{resource}</code>;
  return page ? (
    <To page={page} id={id} account={account}>
      {text}
    </To>
  ) : (
    text
  );
}

function TextFilter({
  label,
  placeholder,
  value,
  set,
}: {
  label: string;
  placeholder: string;
  value: string;
  set: (value: string) => void;
}) {
  const [text, setText] = useState(value);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        set(text.trim());
      }}
    >
      <TextField
        label={label}
        placeholder={placeholder}
        value={text}
        set={setText}
        onBlur={() => text.trim() !== value && set(text.trim())}
      />
    </form>
  );
}
