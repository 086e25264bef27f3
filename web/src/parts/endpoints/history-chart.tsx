import { useMemo } from 'react';
import type { Stats } from '../../api/types.js';
import { BarChart } from '../../ui/chart.js';
import { PERIODS, type Period } from './use-stats.js';

/** How many deliveries came to an end when, and how. */
export function HistoryChart({ closed, period }: { closed: Stats['closed']; period: Period }) {
  const { times, series } = useMemo(() => {
    const stepMs = (Date.parse(closed.to) - Date.parse(closed.from)) / stepsOf(closed, period);
    const known = new Map(closed.by_time.map((part) => [Date.parse(part.from), part.by_status]));
    const at = Array.from(
      { length: stepsOf(closed, period) },
      (_, index) => Date.parse(closed.from) + index * stepMs,
    );
    const good = at.map((time) => known.get(time)?.delivered ?? 0);
    const bad = at.map((time) => {
      const part = known.get(time);
      return part ? part.exhausted + part.expired + part.cancelled : 0;
    });
    return {
      times: at.map((time) => time / 1_000),
      series: [
        { name: 'Delivered', colour: '--good', values: good },
        { name: 'Not delivered', colour: '--bad', values: bad },
      ],
    };
  }, [closed, period]);
  const { delivered, exhausted, expired, cancelled } = closed.by_status;
  const lost = exhausted + expired + cancelled;
  return (
    <figure>
      <BarChart
        times={times}
        series={series}
        label={`${PERIODS[period].name}: ${delivered} delivered, ${lost} not delivered`}
      />
      <figcaption className="chart-key">
        <span className="good">{delivered} delivered</span>
        <span className="bad">{lost} not delivered</span>
      </figcaption>
    </figure>
  );
}

function stepsOf(closed: Stats['closed'], period: Period): number {
  const hours = (Date.parse(closed.to) - Date.parse(closed.from)) / 3_600_000;
  return Math.max(1, Math.round(hours / (period === '24h' ? 1 : 24)));
}
