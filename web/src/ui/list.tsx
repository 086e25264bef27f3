import { type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import type { Page } from '../api/types.js';
import { Failed, Loading } from './states.js';

/** Rows that a list asks for at once. */
export const PAGE_SIZE = 25;

/** How often what changes by itself is asked for again, milliseconds. */
export const LIVE_MS = 5_000;

/**
 * A list, page by page.
 *
 * @param live asks again every few seconds, as long as only the first page is shown
 */
export function useList<T>(
  key: readonly unknown[],
  read: (after: string | undefined) => Promise<Page<T>>,
  live = false,
) {
  return useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => (page.paging.next === undefined ? undefined : page.paging.cursors.after),
    refetchInterval: (query) => (live && (query.state.data?.pages.length ?? 0) < 2 ? LIVE_MS : false),
  });
}

/** The rows of a list, or that it is loading, has failed or is empty; and a button for more. */
export function List<T>({
  list,
  empty,
  children,
}: {
  list: UseInfiniteQueryResult<{ pages: Page<T>[] }>;
  empty: React.ReactNode;
  children: (rows: T[]) => React.ReactNode;
}) {
  if (list.data === undefined)
    return list.error ? (
      <Failed error={list.error} retry={() => void list.refetch()} />
    ) : (
      <Loading lines={8} />
    );
  const rows = list.data.pages.flatMap((page) => page.data);
  return (
    <>
      {rows.length === 0 && !list.hasNextPage ? empty : children(rows)}
      {list.hasNextPage && (
        <div className="loading-more">
          <button
            type="button"
            className="button"
            disabled={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            {list.isFetchingNextPage ? 'Loading…' : 'Show more'}
          </button>
        </div>
      )}
    </>
  );
}
