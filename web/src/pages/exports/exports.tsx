import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { writesToDisk } from '../../files/sink.js';
import { fromLocal, toLocal } from '../../parts/local-time.js';
import { Card, PageHead } from '../../shell/page.js';
import { useMay } from '../../shell/use-session.js';
import { formatCount, formatTenths } from '../../ui/count.js';
import { TextField } from '../../ui/field.js';
import { useRole } from '../../ui/link.js';
import { Failed } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { type Progress, useExport } from './use-export.js';

interface Search {
  from?: string;
  to?: string;
  changes?: boolean;
}

const MONTH_MS = 30 * 86_400_000;

/** The page that downloads what is kept of a period. The address names the period. */
export function Exports() {
  const role = useRole();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as Search;
  const mayReadChanges = useMay('changes:read');
  const [from, setFrom] = useState(
    () =>
      toLocal(search.from) || toLocal(new Date(Date.now() - MONTH_MS).toISOString()).replace(/\d\d$/, '00'),
  );
  const [to, setTo] = useState(() => toLocal(search.to));
  const [changes, setChanges] = useState(search.changes === true);
  const { progress, start, stop } = useExport();
  const begins = fromLocal(from, search.from);
  const ends = fromLocal(to, search.to);
  const mistake =
    begins !== undefined && ends !== undefined && ends <= begins ? 'Must be later than From.' : undefined;
  const isRunning = progress?.state === 'running';
  return (
    <>
      <PageHead
        title="Exports"
        about="Everything that is kept of a period: events with their payloads, and each of their closed deliveries, as a file with a JSON text on each line."
      />
      <Card>
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (begins === undefined || mistake) return;
            const withChanges = changes && mayReadChanges;
            const address = { from: begins, to: ends, ...(withChanges && { changes: true }) };
            void navigate({
              to: '/$role/exports',
              params: { role },
              search: address,
              replace: true,
            } as never);
            void start({ from: begins, to: ends ?? new Date().toISOString(), changes: withChanges });
          }}
        >
          <div className="filters">
            <TextField label="From" type="datetime-local" step={1} required value={from} set={setFrom} />
            <TextField label="To" mistake={mistake} type="datetime-local" step={1} value={to} set={setTo} />
          </div>
          {mayReadChanges && (
            <div className="choices">
              <label className="choice">
                <input
                  type="checkbox"
                  checked={changes}
                  onChange={(event) => setChanges(event.target.checked)}
                />
                With who changed what
              </label>
            </div>
          )}
          <p className="muted small">
            Times are of acceptance, in your zone. Without To, it goes up to now. A delivery that is open is
            not in it yet.{' '}
            {writesToDisk()
              ? 'The file is written as it comes, so it can have any size.'
              : 'This browser holds the file in memory until it is whole, at most 512 MiB. For more, choose shorter periods, or use hookline export.'}
          </p>
          <div className="row">
            <button type="submit" className="button primary" disabled={isRunning}>
              Download
            </button>
            {isRunning && (
              <button type="button" className="button" onClick={stop}>
                Stop
              </button>
            )}
          </div>
          {progress && <HowFar progress={progress} />}
        </form>
      </Card>
    </>
  );
}

function HowFar({ progress: { state, period, lines, bytes, upTo, error } }: { progress: Progress }) {
  if (error) return <Failed error={error} />;
  const [begin, end] = [Date.parse(period.from), Date.parse(period.to)];
  const at = state === 'done' ? end : upTo === undefined ? begin : Date.parse(upTo);
  const amount = `${formatCount(lines)} ${lines === 1 ? 'line' : 'lines'}, ${formatBytes(bytes)}`;
  return (
    <div className="stack tight">
      <progress
        className="meter full"
        max={end - begin}
        value={at - begin}
        aria-label="How much of the period has come"
      />
      {state === 'running' && (
        <p className="number">
          {amount}
          {upTo && (
            <>
              , up to <Time at={upTo} />
            </>
          )}
        </p>
      )}
      <p role="status">
        {state === 'done' && (lines === 0 ? 'Nothing is kept of this period.' : `All of it: ${amount}.`)}
        {state === 'stopped' && 'It was stopped. Nothing of it was kept.'}
      </p>
    </div>
  );
}

/** A size for people, such as 3.4 MB. */
function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const [unit, size] = bytes < 1e6 ? ['kB', 1e3] : bytes < 1e9 ? ['MB', 1e6] : ['GB', 1e9];
  return `${formatTenths(bytes / Number(size))} ${unit}`;
}
