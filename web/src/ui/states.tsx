import type { UseQueryResult } from '@tanstack/react-query';
import { HooklineError } from '../api/client.js';
import { To } from './link.js';

/** Nothing to show, and what to do about it. */
export function Empty({ title, children }: { title: string; children?: React.ReactNode }) {
  return (
    <div className="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** Placeholder of content that is loading. */
export function Loading({ lines = 4 }: { lines?: number }) {
  return (
    <div className="skeleton" role="status">
      <span className="visually-hidden">Loading</span>
      {Array.from({ length: lines }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines have nothing but their order
        <span key={index} aria-hidden="true" />
      ))}
    </div>
  );
}

/** Why something cannot be shown, in the words of the API. */
export function Failed({ error, retry, page }: { error: Error; retry?: () => void; page?: boolean }) {
  const problem = error instanceof HooklineError ? error : undefined;
  if (problem?.code === 'account_not_named')
    return (
      <Empty title="Choose an account">
        <p>You have signed in with a key that acts for accounts.</p>
        <To page="accounts" className="button primary">
          Go to the accounts
        </To>
      </Empty>
    );
  return (
    <div className="notice bad" role="alert">
      <div>
        {page ? <h1>{titleOf(error)}</h1> : <strong>{titleOf(error)}</strong>}
        <p>{error.message}</p>
        {problem?.requestId && <p className="small">Request {problem.requestId}</p>}
      </div>
      {retry && (
        <button type="button" className="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Result of a query, or that it is loading or has failed. Data stays on the screen while it is requested again. */
export function Loaded<T>({
  query,
  lines,
  page,
  children,
}: {
  query: UseQueryResult<T>;
  lines?: number;
  /** It is all that the page has. */
  page?: boolean;
  children: (data: T) => React.ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.error)
    return <Failed error={query.error} retry={() => void query.refetch()} page={page ?? false} />;
  return <Loading {...(lines !== undefined && { lines })} />;
}

function titleOf(error: Error): string {
  if (error instanceof HooklineError) return error.problem?.title ?? 'The request failed';
  return error.name === 'HooklineConnectionError' ? 'The service cannot be reached' : 'Something went wrong';
}
