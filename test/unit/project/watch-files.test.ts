import { deepEqual, match, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { readPanels, readRules, usedMetrics } from '../../support/programs/watch-files.js';

/** Metrics with their labels as docs/metrics.md lists them; a system test compares that list with a running system. */
function documented(): Map<string, string[]> {
  const rows = readFileSync('docs/metrics.md', 'utf8').matchAll(/^\| `(hookline_\w+)` \| \w+ \| (.*?) \|/gm);
  return new Map(
    [...rows].map(([, name = '', labels = '']) => [
      name,
      [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
    ]),
  );
}

/** The anchors that a Markdown file has on GitHub. */
function anchorsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

describe('The files of deploy/ for Grafana and Prometheus', () => {
  it('read metrics and labels of Hookline that docs/metrics.md lists', () => {
    const known = documented();
    const own = usedMetrics().filter(({ name }) => name.startsWith('hookline'));
    ok(own.length > 30, String(own.length));
    const unknown = own.flatMap(({ name, labels }) => {
      const listed = known.get(name) ?? known.get(name.replace(/_(bucket|sum|count)$/, ''));
      return listed
        ? labels.filter((label) => !listed.includes(label)).map((label) => `${name}{${label}}`)
        : name;
    });
    deepEqual(unknown, []);
  });

  it('show every metric of Hookline', () => {
    const used = new Set(usedMetrics().map(({ name }) => name.replace(/_(bucket|sum|count)$/, '')));
    const missing = [...documented().keys()].filter((name) => !used.has(name));
    deepEqual(missing, []);
  });

  it('have a severity, a sentence and a runbook for each alert', () => {
    const alerts = readRules().filter(({ alert }) => alert);
    ok(alerts.length > 0);
    for (const { alert, labels, annotations } of alerts) {
      match(labels?.['severity'] ?? '', /^(page|ticket)$/, alert);
      match(annotations?.['summary'] ?? '', /\.$/, alert);
      const [file = '', anchor] = annotations?.['runbook']?.split('#') ?? [];
      ok(anchorsOf(file).includes(anchor ?? ''), `${alert}: ${file} has no heading for #${anchor}`);
    }
  });

  it('test each alert', () => {
    const { tests } = parse(readFileSync('deploy/prometheus/alerts.test.yml', 'utf8')) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
    };
    const fired = tests.flatMap(({ alert_rule_test: all }) =>
      all.filter(({ exp_alerts: expected }) => expected.length > 0).map(({ alertname }) => alertname),
    );
    deepEqual(
      [...new Set(fired)].sort(),
      readRules()
        .flatMap(({ alert }) => alert ?? [])
        .sort(),
    );
  });

  it('lay out panels that do not overlap, each with a title, a description and an id of its own', () => {
    const panels = readPanels();
    deepEqual(new Set(panels.map(({ id }) => id)).size, panels.length);
    const taken = new Set<string>();
    for (const {
      title,
      description,
      targets,
      gridPos: { x, y, w, h },
    } of panels) {
      ok(title && (description || !targets), title);
      for (let column = x; column < x + w; column += 1)
        for (let line = y; line < y + h; line += 1) {
          ok(!taken.has(`${column} ${line}`), title);
          taken.add(`${column} ${line}`);
        }
    }
  });
});
