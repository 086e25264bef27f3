import { useEffect, useState } from 'react';
import { type RelativeStyle, relativeTime } from '../parts/relative-time.js';

const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const PRECISE = new Intl.DateTimeFormat(undefined, {
  ...{ year: 'numeric', month: 'short', day: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 },
});
const ABSOLUTE = { exact: EXACT, precise: PRECISE };

/**
 * A time in the reader's zone; its title has it in UTC, as the API and the logs do. `precise` is to the millisecond.
 */
export function Time({ at, show = 'exact' }: { at: string; show?: keyof typeof ABSOLUTE | RelativeStyle }) {
  const isAbsolute = show === 'exact' || show === 'precise';
  const now = useNow(!isAbsolute);
  const date = new Date(at);
  const text = isAbsolute ? ABSOLUTE[show].format(date) : relativeTime(at, now, show);
  const title = isAbsolute ? `${at} (UTC)` : `${EXACT.format(date)}\n${at} (UTC)`;
  return (
    <time dateTime={at} title={title} className="number nowrap">
      {text}
    </time>
  );
}

/** Now, in milliseconds since the epoch, renewed each second as long as it is asked for. */
export function useNow(active: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!active) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [active]);
  return now;
}

/** A sentence of the API, its times shown in the reader's zone. */
export function WithTimes({ text }: { text: string }) {
  const parts = text.split(/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/);
  return parts.map((part, index) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence stay where they are
    return index % 2 === 1 ? <Time key={index} at={part} /> : part;
  });
}
