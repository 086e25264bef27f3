import { useSyncExternalStore } from 'react';

interface Message {
  id: number;
  text: string;
  bad: boolean;
}

/** How long a message stays, milliseconds. */
const STAYS_MS = 5_000;

let messages: readonly Message[] = [];
let last = 0;
const listeners = new Set<() => void>();

function set(next: readonly Message[]): void {
  messages = next;
  for (const listener of listeners) listener();
}

/** Tells the person what has been done, or why it could not be. */
export function say(text: string, { bad = false } = {}): void {
  last += 1;
  const id = last;
  set([...messages, { id, text, bad }]);
  setTimeout(() => set(messages.filter((message) => message.id !== id)), STAYS_MS);
}

/** Where messages appear; screen readers are told of them. */
export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => messages,
  );
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, bad }) => (
        <div key={id} className={bad ? 'toast bad' : 'toast'}>
          {text}
        </div>
      ))}
    </div>
  );
}
