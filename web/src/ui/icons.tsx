/** Shapes of 24 by 24, drawn with lines of the text's colour. */
const SHAPES = {
  endpoint: 'M4 12h9M9 7l5 5-5 5M17 5v14',
  delivery: 'M3 7l9 6 9-6M4 5h16a1 1 0 0 1 1 1v12a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1z',
  event: 'M13 3L5 14h6l-1 7 8-11h-6z',
  menu: 'M4 6h16M4 12h16M4 18h16',
  replay: 'M4 5v5h5M4.5 10A8 8 0 1 1 4 14',
  kind: 'M4 6h16M4 12h10M4 18h13',
  overview: 'M4 13h4l2.5 7 4-16L17 13h3',
  incident: 'M12 4l9 16H3zM12 10v4M12 17v.1',
  change: 'M12 8v4l3 2M12 3a9 9 0 1 0 9 9M17 3l4 4M21 3l-4 4',
  account: 'M4 20V6l8-3 8 3v14M9 20v-4h6v4M9 9h.1M15 9h.1M9 13h.1M15 13h.1',
  erasure: 'M12 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8M5 20a7 7 0 0 1 8-6M15 15l5 5M20 15l-5 5',
  export: 'M12 4v11M7 10l5 5 5-5M4 20h16',
  feed: 'M4 6h9M4 12h9M4 18h9M18 5v13M15 15l3 3 3-3',
  limit: 'M4 18a8 8 0 1 1 16 0M12 18l4-6',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M21 21l-5-5',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  check: 'M5 13l4 4L19 7',
  more: 'M5 12h.1M12 12h.1M19 12h.1',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5',
  leave: 'M10 4H5v16h5M14 8l4 4-4 4M8 12h10',
  external: 'M14 4h6v6M20 4l-9 9M18 14v5H5V6h5',
  close: 'M6 6l12 12M18 6L6 18',
} as const;

export type IconName = keyof typeof SHAPES;

/** A picture beside a text, or inside a button that has a name: it says nothing by itself. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" fill="none" aria-hidden="true">
      <path
        d={SHAPES[name]}
        stroke="currentColor"
        strokeWidth={name === 'more' ? 3 : 1.8}
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
