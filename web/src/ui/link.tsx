import { Link, useParams } from '@tanstack/react-router';
import type { Role } from '../api/session.js';

/** The pages below a role, as the router names them. */
export type PagePath =
  | 'endpoints'
  | 'endpoints/new'
  | 'endpoints/$id'
  | 'deliveries'
  | 'deliveries/$id'
  | 'events/$id'
  | 'replays'
  | 'replays/new'
  | 'replays/$id'
  | 'kinds'
  | 'kinds/$id'
  | 'overview'
  | 'incidents'
  | 'changes'
  | 'exports'
  | 'erasures'
  | 'erasures/$id'
  | 'accounts'
  | 'accounts/$id';

/** The role whose pages are shown. */
export function useRole(): Role {
  return (useParams({ strict: false }) as { role?: Role }).role ?? 'portal';
}

/** A link to a page of the same role. */
export function To({
  page,
  id,
  search,
  children,
  ...rest
}: {
  page: PagePath;
  id?: string;
  search?: Record<string, unknown>;
  className?: string;
  activeProps?: { className: string };
  activeOptions?: { exact?: boolean; includeSearch?: boolean };
  children: React.ReactNode;
}) {
  const role = useRole();
  return (
    <Link
      to={`/$role/${page}` as string}
      params={{ role, ...(id !== undefined && { id }) } as never}
      search={(search ?? {}) as never}
      {...rest}
    >
      {children}
    </Link>
  );
}
