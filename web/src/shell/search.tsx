import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Icon } from '../ui/icons.js';
import { useRole } from '../ui/link.js';

/** Where an id leads, by how it begins. */
const PAGES = {
  dlv: 'deliveries/$id',
  evt: 'events/$id',
  ep: 'endpoints/$id',
  rpl: 'replays/$id',
  ers: 'erasures/$id',
} as const;
/** What has no page of its own, but a record of its changes. */
const RESOURCES: Record<string, string> = {
  key: 'api_key',
  client: 'oauth_client',
  prof: 'profile',
  acct: 'account',
};

/** Where a search leads: to what has that id, or to the deliveries of events with that business key. */
export function findTarget(
  text: string,
): { page: string; id?: string; search?: Record<string, string> } | undefined {
  const [, prefix = ''] = /^([a-z]+)_\w+$/.exec(text) ?? [];
  const page = PAGES[prefix as keyof typeof PAGES];
  if (page) return { page, id: text };
  const kind = RESOURCES[prefix];
  if (kind) return { page: 'changes', search: { resource: `${kind}:${text}` } };
  if (/^[\w.-]{1,64}:.+$/.test(text)) return { page: 'deliveries', search: { key: text } };
  return undefined;
}

/** One box for any id, and for business keys such as `order_id:1001`. */
export function Search() {
  const role = useRole();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [mistake, setMistake] = useState(false);
  return (
    <search className="search">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const target = findTarget(text.trim());
          setMistake(!target);
          if (!target) return;
          setText('');
          void navigate({
            to: `/$role/${target.page}`,
            params: { role, id: target.id },
            search: target.search ?? {},
          } as never);
        }}
      >
        <Icon name="search" />
        <input
          className="input"
          aria-label="Find by id or business key"
          aria-describedby={mistake ? 'search-mistake' : undefined}
          aria-invalid={mistake || undefined}
          placeholder="Any id, or order_id:1001"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setMistake(false);
          }}
        />
        {mistake && (
          <div id="search-mistake" className="small muted" role="alert">
            Type an id such as dlv_…, evt_… or ep_…, or a business key as name:value.
          </div>
        )}
      </form>
    </search>
  );
}
