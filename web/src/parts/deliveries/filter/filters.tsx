import { useState } from 'react';

/** Filters of a list. On a phone it is folded behind a button, which says how many are set. */
export function Filters({ count, children }: { count: number; children: React.ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <div className="filters-fold">
      <button type="button" className="button phone-only" aria-expanded={open} onClick={() => setOpen(!open)}>
        Filters{count > 0 && ` (${count})`}
      </button>
      <div className={open ? 'filters open' : 'filters'}>{children}</div>
    </div>
  );
}
