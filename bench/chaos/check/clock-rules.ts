import { UNITS } from '../../../src/domain/basics/duration.js';
import type { Check, Finding } from './finding.js';
import { matchAll, recordOf } from './matching.js';

/**
 * A time that is told may be further from when it was than a fault makes a process stand still, and less far than a
 * fault sets its clock. Milliseconds.
 */
const FAR_MS = 3 * UNITS.m;

/**
 * Times that Hookline tells are near those at which producers and receivers saw the same, also if the clock of a
 * process is another one: the time that a request is signed for, those of attempts, and those of deliveries.
 */
export const clock: Check = (collected) => {
  const { received, posted } = collected;
  const events = new Map(posted.flatMap((event) => event.eventIds.map((id) => [id, event] as const)));
  return [
    ...received.flatMap(({ eventId, path, attempt, timestamp, atMs }) =>
      far(`${eventId} ${path}`, `attempt ${attempt} is signed for`, timestamp * 1_000, atMs),
    ),
    ...matchAll(collected).flatMap(({ views, runs }) => {
      const { created_at, closed_at, status } = recordOf(views) ?? {};
      const event = events.get(views.eventId);
      const attempts = runs.flat();
      const last = attempts.at(-1)?.request;
      return [
        ...attempts.flatMap(({ attempt: { number, at }, request }) =>
          far(views.id, `attempt ${number} is recorded at`, Date.parse(at), request?.atMs),
        ),
        // Others are created when their event is sent.
        ...(event?.scheduled
          ? []
          : far(
              views.id,
              'is created at',
              Date.parse(created_at ?? ''),
              event?.postedMs,
              event?.acknowledgedMs,
            )),
        ...(status === 'delivered' && closed_at !== undefined
          ? far(views.id, 'is closed at', Date.parse(closed_at), last?.atMs)
          : []),
      ];
    }),
  ];
};

/**
 * @param toldMs the time that Hookline tells
 * @param fromMs when it was at the earliest, and `toMs` at the latest; absent: nobody saw it
 */
function far(id: string, what: string, toldMs: number, fromMs?: number, toMs = fromMs): Finding[] {
  if (fromMs === undefined || toMs === undefined) return [];
  if (toldMs >= fromMs - FAR_MS && toldMs <= toMs + FAR_MS) return [];
  const time = (ms: number) => (Number.isNaN(ms) ? 'no time' : new Date(ms).toISOString());
  return [{ rule: 'clock', id, text: `${what} ${time(toldMs)}, and it was ${time(fromMs)}` }];
}
