import { type Counts, checkAll, countAll } from './check/check.js';
import type { Collected, DoneAct } from './check/collected.js';
import { type Finding, RULES, type RuleName } from './check/finding.js';

/** So many broken rules of one kind are shown. */
const MOST_SHOWN = 20;

/** Result of a run. */
export interface Report {
  seed: number;
  /** Kinds of fault that were made, and how often. */
  faults: Record<string, number>;
  /** Acts by name: how often they were asked for, and how often they were answered 2xx. */
  acts: Record<string, { asked: number; done: number }>;
  counts: Counts;
  /** How often Hookline processes ended without being told to. */
  ended: number;
  /** How often each rule was broken. */
  broken: Record<RuleName, number>;
  findings: Finding[];
  isWell: boolean;
}

export function reportOn(seed: number, collected: Collected, ended: number): Report {
  const findings = checkAll(collected);
  const names = Object.keys(RULES) as RuleName[];
  const broken = Object.fromEntries(
    names.map((name) => [name, findings.filter(({ rule }) => rule === name).length]),
  ) as Record<RuleName, number>;
  const faults: Record<string, number> = {};
  for (const { name } of collected.disruptions) faults[name] = (faults[name] ?? 0) + 1;
  return {
    seed,
    faults,
    acts: countActs(collected.acts),
    counts: countAll(collected),
    ended,
    broken,
    findings,
    isWell: findings.length === 0,
  };
}

function countActs(acts: readonly DoneAct[]): Report['acts'] {
  const counts: Report['acts'] = {};
  for (const { name, status } of acts) {
    counts[name] ??= { asked: 0, done: 0 };
    counts[name].asked += 1;
    if (status >= 200 && status < 300) counts[name].done += 1;
  }
  return counts;
}

/** A report for people. */
export function tellReport({
  seed,
  faults,
  acts,
  counts,
  ended,
  broken,
  findings,
  isWell,
}: Report): string[] {
  const names = Object.keys(RULES) as RuleName[];
  const row = (name: string, value: unknown, about = '') =>
    `  ${name.padEnd(24)} ${String(value).padStart(7)}  ${about}`;
  return [
    `seed ${seed}: ${Object.keys(faults).length} kinds of fault`,
    ...Object.entries(faults)
      .sort()
      .map(([name, count]) => row(name, count)),
    'acts, and how many were answered 2xx',
    ...Object.entries(acts)
      .sort()
      .map(([name, { asked, done }]) => row(name, asked, `${done} done`)),
    'counts',
    row('events posted', counts.posted),
    row('accepted', counts.accepted, '202, whatever came before'),
    row('without an answer', counts.unknown, 'sent without a key, or their account was deleted'),
    row('deliveries', counts.deliveries, JSON.stringify(counts.statuses)),
    row('read by themselves', counts.readSingly, 'of these, in every view'),
    row('requests at receivers', counts.requests),
    row('repeated', counts.repeated, '2xx answers beyond one for each run'),
    row('told as lost', counts.told, 'requests of tries that may have arrived, as their attempts say'),
    row('not in a record', counts.unrecorded, 'requests that no record knows of'),
    row('checkpoints', counts.checkpoints, `the last of ${counts.logSize} records`),
    row('processes that ended', ended, 'without being told to'),
    'rules, and how often each was broken',
    ...names.map((name) => row(name, broken[name], RULES[name])),
    ...names.flatMap((name) => {
      const all = findings.filter(({ rule }) => rule === name);
      const shown = all.slice(0, MOST_SHOWN).map(({ id, text }) => `${name}: ${id} ${text}`);
      return all.length > MOST_SHOWN ? [...shown, `${name}: and ${all.length - MOST_SHOWN} more`] : shown;
    }),
    isWell ? 'Everything held.' : 'NOT everything held.',
  ];
}
