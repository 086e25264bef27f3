import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { endSession } from '../api/client.js';
import type { Role } from '../api/session.js';
import { Icon, type IconName } from '../ui/icons.js';
import { To, useRole } from '../ui/link.js';
import { AccountChoice } from './account-choice.js';
import { LinkOffer } from './link-offer.js';
import { Brand } from './look/brand.js';
import { useLookColor, useLookIcon } from './look/use-look.js';
import type { PagePath } from './page-path.js';
import { Scoped } from './scoped.js';
import { Search } from './search.js';
import { SignIn } from './sign-in.js';
import { ThemeMenu } from './theme-menu.js';
import { mayAct, useHolder, useHome, useSession } from './use-session.js';

interface Entry {
  page: PagePath;
  icon: IconName;
  name: string;
}

const SHARED: readonly Entry[] = [
  { page: 'deliveries', icon: 'delivery', name: 'Deliveries' },
  { page: 'events', icon: 'event', name: 'Events' },
  { page: 'endpoints', icon: 'endpoint', name: 'Endpoints' },
  { page: 'replays', icon: 'replay', name: 'Replays' },
  { page: 'kinds', icon: 'kind', name: 'Event catalogue' },
];

const ENTRIES: Record<Role, readonly Entry[]> = {
  portal: SHARED,
  desk: [
    { page: 'overview', icon: 'overview', name: 'Overview' },
    { page: 'incidents', icon: 'incident', name: 'Incidents' },
    ...SHARED,
    { page: 'changes', icon: 'change', name: 'Changes' },
    { page: 'exports', icon: 'export', name: 'Exports' },
    { page: 'feed', icon: 'feed', name: 'Feed' },
    { page: 'erasures', icon: 'erasure', name: 'Personal data' },
    { page: 'accounts', icon: 'account', name: 'Accounts' },
  ],
};

/** The frame around every page of a role; without a session, the way to get one. */
export function Shell() {
  const role = useRole();
  const session = useSession(role);
  useLookColor();
  useLookIcon();
  if (!session)
    return (
      <>
        <SignIn role={role} />
        <LinkOffer />
      </>
    );
  return (
    <div className="shell">
      <LinkOffer />
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <Side role={role} />
      <div className="main">
        <div className="topbar">
          <Search />
          {role === 'desk' && <AccountChoice />}
          <ThemeMenu />
        </div>
        <Scoped />
      </div>
    </div>
  );
}

function Side({ role }: { role: Role }) {
  const [open, setOpen] = useState(false);
  const holder = useHolder();
  const home = useHome().data;
  const navigate = useNavigate();
  /** The next person to sign in may have another account than the address names. */
  const signOut = () => {
    endSession(role, home?.type === 'desk_session');
    void navigate({ to: '/$role', params: { role }, search: { account: undefined } } as never);
  };
  return (
    <header className="side">
      <To page={role === 'desk' ? 'overview' : 'deliveries'} className="brand">
        <Brand>
          <small>{role === 'desk' ? 'Desk' : 'Portal'}</small>
        </Brand>
      </To>
      <button
        type="button"
        className="button phone-only"
        aria-expanded={open}
        aria-controls="pages"
        onClick={() => setOpen(!open)}
      >
        <Icon name="menu" /> Menu
      </button>
      {/* On a phone it is folded until it is asked for, and again once a page was chosen. */}
      <nav aria-label="Pages" id="pages" className={open ? 'open' : undefined}>
        <ul>
          {ENTRIES[role].map(({ page, icon, name }) => (
            <li key={page}>
              <To
                page={page}
                activeProps={{ className: 'active' }}
                activeOptions={{ includeSearch: false }}
                onClick={() => setOpen(false)}
              >
                <Icon name={icon} />
                {name}
              </To>
            </li>
          ))}
        </ul>
      </nav>
      <div className="who">
        {holder.data && (
          <div className="name" title={holder.data.id}>
            {holder.data.account.name}
            <div className="muted">
              {holder.data.name}
              {mayAct(holder.data) ? '' : ' (may only read)'}
            </div>
          </div>
        )}
        <button type="button" className="button quiet small" onClick={signOut}>
          <Icon name="leave" /> Sign out
        </button>
      </div>
    </header>
  );
}
