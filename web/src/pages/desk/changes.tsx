import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.js';
import type { Change } from '../../api/types.js';
import { Card, PageHead } from '../../shell/page.js';
import { capitalize } from '../../ui/badge.js';
import { TextField } from '../../ui/field.js';
import { type PagePath, To, useRole } from '../../ui/link.js';
import { List, PAGE_SIZE, useList } from '../../ui/list.js';
import { Empty } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
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
  const list = useList<Change>(['changes', filters], (after) =>
    api.get('/v18.0/changes', { params: { query: { ...filters, limit: PAGE_SIZE, after } } }),
  );
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
            <Table head={['What', 'Who', 'Details', 'When']}>
              {rows.map((change) => (
                <ChangeRow key={change.id} change={change} />
              ))}
            </Table>
          )}
        </List>
      </Card>
    </>
  );
}

const OUTCOMES = { refused: 'refused', unknown: 'not known yet whether it was done' };

function ChangeRow({ change }: { change: Change }) {
  const { actor, reason, address, resource, version, outcome } = change;
  const rows = differences(change);
  return (
    <tr>
      <td>
        <strong>{capitalize(change.action.replaceAll('_', ' '))}</strong>
        {outcome !== 'done' && <span className="muted"> ({OUTCOMES[outcome]})</span>}
        <div className="small">
          <Resource resource={resource} />{' '}
          {version !== undefined && <span className="muted">version {version}</span>}
        </div>
      </td>
      <td className="small">
        <To page="changes" search={{ actor: actor.person ?? actor.id }}>
          <code className="wrap">{actor.person ?? actor.id}</code>
        </To>
        {address && <div className="muted">from {address}</div>}
      </td>
      <td className="wide">
        {reason && <p>{reason}</p>}
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

function Resource({ resource }: { resource: string }) {
  const [kind = '', id = ''] = resource.split(/:(.*)/);
  const page = PAGES[kind];
  const text = <code className="wrap">{resource}</code>;
  return page ? (
    <To page={page} id={id}>
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
