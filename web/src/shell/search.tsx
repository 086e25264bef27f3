import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Icon } from '../ui/icons.js';
import { useRole } from '../ui/link.js';
import { idIn, targetOf } from './search-target.js';
import { useWhole } from './use-session.js';

/** One box for any id, an order's number, an account's name, a host. `/` goes there from anywhere. */
export function Search() {
  const role = useRole();
  const whole = useWhole();
  const navigate = useNavigate();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target))
        return;
      event.preventDefault();
      input.current?.focus();
    };
    document.addEventListener('keydown', focus);
    return () => document.removeEventListener('keydown', focus);
  }, []);
  return (
    <search className="search">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const query = idIn(text.trim());
          if (query === '') return;
          setText('');
          const target = whole ? undefined : targetOf(query);
          void navigate(
            target
              ? ({
                  to: `/$role/${target.page}`,
                  params: { role, id: target.id },
                  search: target.search ?? {},
                } as never)
              : // What was looked for may be personal: a fragment is sent to no server.
                ({
                  to: '/$role/search',
                  params: { role },
                  search: {},
                  hash: encodeURIComponent(query),
                } as never),
          );
        }}
      >
        <Icon name="search" />
        <input
          ref={input}
          className="input"
          aria-label="Find by id, order, account or host"
          aria-keyshortcuts="/"
          placeholder={whole ? 'Any id, order, account or host' : 'Any id, order or host'}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <kbd>/</kbd>
      </form>
    </search>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, select, textarea, [contenteditable]');
}
