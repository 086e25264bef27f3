import { useEffect, useRef, useState } from 'react';
import { actingFor } from '../../api/client.js';
import { actingAccount } from '../../api/scope.js';
import { openSink } from '../../files/sink.js';
import { countLines } from '../../files/whole-lines.js';
import { exportParts, type Period } from './export-stream.js';

/** How far an export is. */
export interface Progress {
  state: 'running' | 'done' | 'stopped' | 'failed';
  period: Period;
  lines: number;
  bytes: number;
  upTo?: string | undefined;
  error?: Error;
}

/** How often the progress is shown anew, milliseconds. */
const SHOWN_MS = 100;

/** Downloads exports, one at a time. Leaving the page stops it. */
export function useExport() {
  const [progress, setProgress] = useState<Progress>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  const start = async (period: Period): Promise<void> => {
    if (running.current) return;
    const control = new AbortController();
    running.current = control;
    const now: Progress = { state: 'running', period, lines: 0, bytes: 0 };
    try {
      const sink = await openSink(nameOf(period));
      if (!sink) return;
      setProgress({ ...now });
      // The account that the application acts for may change during the export; the export's account does not.
      const headers = actingFor(actingAccount() ?? '');
      let shownAt = 0;
      try {
        for await (const { bytes, upTo } of exportParts(period, headers, control.signal)) {
          await sink.write(bytes);
          now.lines += countLines(bytes);
          now.bytes += bytes.length;
          now.upTo = upTo;
          if (Date.now() - shownAt < SHOWN_MS) continue;
          shownAt = Date.now();
          setProgress({ ...now });
        }
        if (now.lines > 0) await sink.close();
        else await sink.abort();
      } catch (error) {
        await sink.abort().catch(() => {});
        throw error;
      }
      setProgress({ ...now, state: 'done' });
    } catch (error) {
      setProgress(
        control.signal.aborted
          ? { ...now, state: 'stopped' }
          : { ...now, state: 'failed', error: error as Error },
      );
    } finally {
      running.current = undefined;
    }
  };
  return { progress, start, stop: () => running.current?.abort() };
}

function nameOf({ from, to }: Period): string {
  return `hookline-${from.slice(0, 10)}-to-${to.slice(0, 10)}.ndjson`;
}
