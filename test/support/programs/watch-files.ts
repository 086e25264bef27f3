import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** The files in `deploy/` by which an operator watches an installation. */
export const ALERT_RULES = 'deploy/prometheus/alerts.yml';
export const DASHBOARD = 'deploy/grafana/hookline.json';

/** A rule of {@link ALERT_RULES}: an alert, or a recorded expression. */
export interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** A panel of {@link DASHBOARD}. */
export interface Panel {
  id: number;
  title: string;
  description?: string;
  targets?: { expr: string }[];
  gridPos: { x: number; y: number; w: number; h: number };
}

export function readRules(): Rule[] {
  const { groups } = parse(readFileSync(ALERT_RULES, 'utf8')) as { groups: { rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

export function readPanels(): Panel[] {
  return (JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { panels: Panel[] }).panels;
}

/** A metric that an expression reads, and the labels by which it selects or groups. */
export interface UsedMetric {
  name: string;
  labels: string[];
}

/** Labels that Prometheus adds when it scrapes, and that of a histogram's buckets. */
const ADDED_LABELS = ['job', 'instance', 'le'];

/** The metrics of all expressions of both files, recorded ones aside. */
export function usedMetrics(): UsedMetric[] {
  const rules = readRules();
  const expressions = [
    ...rules.map(({ expr }) => expr),
    ...readPanels().flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ];
  const recorded = new Set(rules.flatMap(({ record }) => record ?? []));
  return expressions.flatMap((expr) => {
    const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
    const named = [...expr.matchAll(/\b((?:hookline|temporal|nodejs|process)[_:][\w:]*)(?:\{([^}]*)\})?/g)];
    return named
      .filter(([, name = '']) => !recorded.has(name))
      .map(([, name = '', matchers = '']) => {
        const selected = [...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label);
        const labels = [...selected, ...grouped].filter((label) => !ADDED_LABELS.includes(label));
        return { name, labels: [...new Set(labels)] };
      });
  });
}
