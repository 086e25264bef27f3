import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  Outlet,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router';
import { accountIn } from './api/scope.js';
import { BASE_PATH, ROLES, type Role } from './api/session.js';
import { readDeliveryFilters } from './parts/deliveries/filters.js';
import { Shell } from './shell/shell.js';
import { SignedIn } from './shell/signed-in.js';
import { Empty, Failed, Loading } from './ui/states.js';

/** Each address names the account that it is about, and keeps it from page to page. */
const root = createRootRoute({
  component: Outlet,
  validateSearch: (search: Record<string, unknown>): { account?: string } => {
    const account = accountIn(search);
    return account === undefined ? {} : { account };
  },
  search: { middlewares: [retainSearchParams(['account'])] },
});

const toPortal = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/$role', params: { role: 'portal' } });
  },
});

const role = createRoute({
  getParentRoute: () => root,
  path: '$role',
  params: {
    parse: ({ role: name }) => {
      if (!(ROLES as readonly string[]).includes(name)) throw notFound();
      return { role: name as Role };
    },
    stringify: ({ role: name }) => ({ role: name }),
  },
});

/** Where logins end: outside of the frame, which would ask to sign in. */
const signedIn = createRoute({ getParentRoute: () => role, path: 'signed-in', component: SignedIn });

const shell = createRoute({ getParentRoute: () => role, id: 'shell', component: Shell });

const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  beforeLoad: ({ params, search }) => {
    throw redirect({
      search,
      to: params.role === 'desk' ? '/$role/overview' : '/$role/deliveries',
      params,
    } as never);
  },
});

/** A page of the shell, loaded when it is first shown. @param load the module, which exports the page by that name */
function page<Module extends Record<string, unknown>, Name extends keyof Module & string>(
  path: string,
  load: () => Promise<Module>,
  name: Name,
  validateSearch: (search: Record<string, unknown>) => object = (search) => search,
) {
  return createRoute({
    getParentRoute: () => shell,
    path,
    component: lazyRouteComponent(load as never, name as never) as never,
    validateSearch,
  });
}

const pages = [
  page('endpoints', () => import('./pages/endpoints/endpoints.js'), 'Endpoints'),
  page('endpoints/new', () => import('./pages/endpoints/form/new-endpoint.js'), 'NewEndpoint'),
  page('endpoints/$id', () => import('./pages/endpoints/endpoint.js'), 'Endpoint'),
  page('deliveries', () => import('./pages/deliveries/deliveries.js'), 'Deliveries', readDeliveryFilters),
  page('deliveries/$id', () => import('./pages/deliveries/delivery.js'), 'Delivery'),
  page('kinds', () => import('./pages/kinds/kinds.js'), 'Kinds'),
  page('kinds/$id', () => import('./pages/kinds/kind.js'), 'Kind'),
  page('replays', () => import('./pages/replays/replays.js'), 'Replays'),
  page('replays/new', () => import('./pages/replays/new-replay.js'), 'NewReplay'),
  page('replays/$id', () => import('./pages/replays/replay.js'), 'Replay'),
  page('overview', () => import('./pages/desk/overview.js'), 'Overview'),
  page('incidents', () => import('./pages/desk/incidents.js'), 'Incidents'),
  page('changes', () => import('./pages/desk/changes.js'), 'Changes'),
  page('exports', () => import('./pages/exports/exports.js'), 'Exports'),
  page('feed', () => import('./pages/feed/feed.js'), 'Feed'),
  page('erasures', () => import('./pages/erasures/erasures.js'), 'Erasures'),
  page('erasures/$id', () => import('./pages/erasures/erasure.js'), 'Erasure'),
  page('accounts', () => import('./pages/desk/accounts.js'), 'Accounts'),
  page('accounts/$id', () => import('./pages/desk/account/account.js'), 'Account'),
  page('search', () => import('./pages/desk/found.js'), 'FoundPage'),
  page('events', () => import('./pages/events/events.js'), 'Events', readDeliveryFilters),
  page('events/scheduled', () => import('./pages/events/scheduled.js'), 'Scheduled'),
  page('events/$id', () => import('./pages/events/event.js'), 'Event'),
];

/** The application's addresses: the same pages for both roles, and some for operators alone. */
export function createAppRouter() {
  return createRouter({
    routeTree: root.addChildren([
      toPortal,
      role.addChildren([signedIn, shell.addChildren([home, ...pages])]),
    ]),
    basepath: BASE_PATH || '/',
    defaultPendingComponent: Loading,
    defaultErrorComponent: ({ error }) => <Failed error={error as Error} />,
    defaultNotFoundComponent: () => (
      <Empty title="There is no such page">
        <p>
          <a href={`${BASE_PATH}/portal`}>Go to the portal</a>, or to the{' '}
          <a href={`${BASE_PATH}/desk`}>desk</a>.
        </p>
      </Empty>
    ),
    scrollRestoration: true,
  });
}
