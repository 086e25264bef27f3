import { useNavigate } from '@tanstack/react-router';
import type { AccountOfRow } from '../api/types.js';

/** Account of a row. Choosing it narrows the page down to that account. */
export function AccountLink({ account: { id, name } }: { account: AccountOfRow }) {
  const navigate = useNavigate();
  return (
    <button
      type="button"
      className="link"
      title={`Only ${name || id}`}
      onClick={() =>
        void navigate({ to: '.', search: (before: object) => ({ ...before, account: id }) } as never)
      }
    >
      {name || id}
    </button>
  );
}
