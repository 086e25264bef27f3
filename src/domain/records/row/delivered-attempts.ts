import type { AttemptReport } from '../../attempt/attempt-report.js';
import type { MemberAttempt } from '../../delivery/attempt-order.js';

/** Attempts that were delivered, in columns: in the history of a group they take a tenth of what reports take. */
export interface DeliveredAttempts {
  /** Their places among the attempts; absent: all of them. */
  positions?: number[];
  /** When the first of them began. ISO 8601, UTC. */
  at: string;
  /** When each began after that. Milliseconds. */
  after_ms: number[];
  duration_ms: number[];
  status_code: number[];
  /** See {@link AttemptReport}. */
  ended_at: number;
}

interface MemberReports {
  reports: (AttemptReport | null)[];
  delivered?: DeliveredAttempts;
}

/** Reports, of which those of attempts that were just delivered stand in columns. */
export function inColumns(
  reports: MemberReports['reports'],
  attempts: readonly MemberAttempt[],
): MemberReports {
  const ended_at = reports.find((report) => report?.ended_at !== undefined)?.ended_at;
  const found = reports.flatMap((report, position) => {
    const made = factsIn(report, attempts[position], ended_at);
    return made ? [{ ...made, position }] : [];
  });
  const [first] = found;
  if (!first || ended_at === undefined) return { reports };
  const columns = {
    at: new Date(first.at).toISOString(),
    after_ms: found.map(({ at }) => at - first.at),
    duration_ms: found.map(({ duration_ms }) => duration_ms),
    status_code: found.map(({ status_code }) => status_code),
    ended_at,
  };
  if (found.length === reports.length) return { reports: [], delivered: columns };
  const positions = found.map(({ position }) => position);
  const others = reports.map((report, position) => (positions.includes(position) ? null : report));
  return { reports: others, delivered: { positions, ...columns } };
}

/** The reports that {@link inColumns} was given. @param attempts the same */
export function reportsOf(
  { reports, delivered }: MemberReports,
  attempts: readonly MemberAttempt[],
): MemberReports['reports'] {
  if (!delivered) return reports;
  const { positions = [...attempts.keys()], at, after_ms, duration_ms, status_code, ended_at } = delivered;
  const rowOf = new Map(positions.map((position, row) => [position, row]));
  return attempts.map(({ number, trigger }, position) => {
    const row = rowOf.get(position);
    if (row === undefined) return reports[position] ?? null;
    const attempt = {
      ...{ number, at: new Date(Date.parse(at) + (after_ms[row] ?? 0)).toISOString() },
      ...{
        duration_ms: duration_ms[row] ?? 0,
        status_code: status_code[row],
        trigger,
        shortened: true as const,
      },
    };
    return { kind: 'attempted', attempt, outcome: 'delivered', ended_at };
  });
}

/** Facts of a delivered attempt that columns have; `undefined` if its report says anything else. */
function factsIn(
  report: AttemptReport | null,
  asked: MemberAttempt | undefined,
  endedAt: number | undefined,
) {
  if (report?.kind !== 'attempted' || report.outcome !== 'delivered' || report.ended_at !== endedAt)
    return undefined;
  const { number, at: began, duration_ms, status_code, trigger, shortened, ...others } = report.attempt;
  const at = Date.parse(began);
  const isAsked = number === asked?.number && trigger === asked.trigger;
  const isPlain = shortened && report.retry_after_ms === undefined && Object.keys(others).length === 0;
  if (!isAsked || !isPlain || status_code === undefined || new Date(at).toISOString() !== began)
    return undefined;
  return { at, duration_ms, status_code };
}
