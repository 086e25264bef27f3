import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

/** A series of bars that stand on each other: what is first stands at the bottom. */
export interface Series {
  name: string;
  /** A colour of the style sheet, such as `--good`. */
  colour: string;
  values: number[];
}

/**
 * Bars over time, drawn by uPlot. A picture: what it shows must be said beside it as text, too.
 *
 * @param times seconds since the epoch, in order
 */
export function BarChart({ times, series, label }: { times: number[]; series: Series[]; label: string }) {
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = holder.current;
    if (!element) return;
    let plot = draw(element, times, series);
    const redraw = () => {
      plot.destroy();
      plot = draw(element, times, series);
    };
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', redraw);
    const themed = new MutationObserver(redraw);
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      resized.disconnect();
      themed.disconnect();
      scheme.removeEventListener('change', redraw);
      plot.destroy();
    };
  }, [times, series]);
  return <div ref={holder} className="chart" role="img" aria-label={label} />;
}

const HEIGHT = 180;

function draw(element: HTMLElement, times: number[], series: Series[]): uPlot {
  const muted = colourOf(element, '--muted');
  const grid = { stroke: colourOf(element, '--border'), width: 1 };
  // uPlot draws each series from zero: the sum of all first, and over it the sums of fewer.
  const sums = series.map((_, index) =>
    times.map((_, time) =>
      series.slice(0, index + 1).reduce((sum, { values }) => sum + (values[time] ?? 0), 0),
    ),
  );
  const bars = uPlot.paths.bars?.({ size: [0.7, 36], radius: 0.15 });
  const axis = { stroke: muted, grid, ticks: { show: false }, font: '11px system-ui' };
  return new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: { y: { range: (_plot, _min, max) => [0, Math.max(4, max * 1.1)] } },
      axes: [
        { ...axis, grid: { show: false }, values: timesOf },
        { ...axis, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5] },
      ],
      series: [
        {},
        ...series
          .map(({ colour }) => ({
            fill: colourOf(element, colour),
            ...(bars && { paths: bars }),
            points: { show: false },
          }))
          .reverse(),
      ],
    },
    [times, ...sums.reverse()],
    element,
  );
}

const DAY_S = 86_400;
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const TIME = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });

/** The times below the bars as the reader writes them; midnight is the day that begins. */
function timesOf(_plot: uPlot, splits: number[], _axis: number, _space: number, increment: number): string[] {
  return splits.map((seconds) => {
    const at = new Date(seconds * 1_000);
    const isDay = increment >= DAY_S || (at.getHours() === 0 && at.getMinutes() === 0);
    return (isDay ? DAY : TIME).format(at);
  });
}

/** A colour as it is in the scheme that is shown: a property of the style sheet may have one for each. */
function colourOf(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
