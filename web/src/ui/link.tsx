import { Link, useParams } from '@tanstack/react-router';
import type { Role } from '../api/session.js';
import type { PagePath } from '../shell/page-path.js';

/** The role whose pages are shown. */
export function useRole(): Role {
  return (useParams({ strict: false }) as { role?: Role }).role ?? 'portal';
}

/** A link to a page of the same role. */
export function To({
  page,
  id,
  search,
  account,
  everywhere,
  children,
  ...rest
}: {
  page: PagePath;
  id?: string;
  search?: Record<string, unknown>;
  /** Account of the page; absent: that of the current page. */
  account?: string | undefined;
  /** Leaves the account of the page at hand. */
  everywhere?: boolean;
  className?: string;
  onClick?: () => void;
  activeProps?: { className: string };
  activeOptions?: { exact?: boolean; includeSearch?: boolean };
  children: React.ReactNode;
}) {
  const role = useRole();
  return (
    <Link
      to={`/$role/${page}` as string}
      params={{ role, ...(id !== undefined && { id }) } as never}
      search={{ ...search, ...((everywhere || account !== undefined) && { account }) } as never}
      {...rest}
    >
      {children}
    </Link>
  );
}
