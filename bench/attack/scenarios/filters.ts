import { type Attack, insist } from '../attack.js';

/** 63 KB of conditions, just below the limit of a body. */
const MANY = JSON.stringify({
  target_url: 'https://x.example.com/',
  event_kinds: ['purchase'],
  filter: { all: Array.from({ length: 21_000 }, () => ({})) },
});
const MANY_STATUSES = JSON.stringify({
  action: 'resend',
  filter: { status: Array.from({ length: 10_000 }, () => 'x') },
});
const MANY_NAMES = Array.from({ length: 1_000 }, (_, at) => `n${at}=1`).join('&');

export const parsing: Attack = {
  name: 'filter-parsing',
  about: 'filters, lists and queries as long as a request may be, all refused',
  async prepare({ account }) {
    const { request } = bound(await account());
    const turns = [
      () => request('POST', '/v18.0/endpoints', MANY),
      () => request('POST', '/v18.0/listeners', MANY),
      () => request('POST', '/v18.0/replays', MANY_STATUSES),
      () => request('GET', `/v18.0/deliveries?${MANY_NAMES}`),
    ];
    return (stop) => insist(20, stop, (side) => turns[side % turns.length]?.() ?? Promise.resolve());
  },
};

const ENDPOINTS = 300;
/** Levels of a pointer, the deepest first: what the service takes is used. */
const LEVELS = [127, 64, 16, 8];

export const matching: Attack = {
  name: 'filter-matching',
  about: `${ENDPOINTS} endpoints with the largest filters that are taken, and events nested as deep, none of which match`,
  async prepare({ account, random }) {
    const { request } = bound(await account());
    const letter = String.fromCharCode(97 + Math.floor(random() * 26));
    const register = (levels: number, at: number) =>
      request('POST', '/v18.0/endpoints', {
        target_url: `https://x${at}.example.com/`,
        event_kinds: ['purchase'],
        filter: {
          any: Array.from({ length: 49 }, (_, index) => ({
            path: `${`/${letter}`.repeat(levels - 1)}/${index}`,
            equals: 1,
          })),
        },
      });
    let levels = 0;
    for (const tried of LEVELS) {
      levels = tried;
      if ((await register(tried, 0)).status === 201) break;
    }
    for (let at = 1; at < ENDPOINTS; at += 1) if ((await register(levels, at)).status !== 201) break;
    const nested = `${`{"${letter}":`.repeat(120)}1${'}'.repeat(120)}`;
    const event = `{"order_id":"1","customer_email":"a@example.com","total":1,"items":[],"created_at":"2026-01-31T12:00:00Z","${letter}":${nested}}`;
    return (stop) => insist(10, stop, () => request('POST', '/v18.0/events/purchase', event));
  },
};

function bound<T extends { request: (...args: never[]) => unknown }>(hostile: T): { request: T['request'] } {
  return { request: hostile.request.bind(hostile) as T['request'] };
}
