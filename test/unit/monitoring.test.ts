import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { ApiMetrics, WorkerMetrics } from '../../src/platform/telemetry/metrics.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const at = (path: string): string => join(root, path);
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}
interface RuleTest {
  readonly name: string;
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly object[] }[];
}
interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const { groups } = load(readFileSync(at('deploy/prometheus/alerts.yml'), 'utf8')) as {
  groups: readonly { rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const { tests } = load(readFileSync(at('deploy/prometheus/alerts.test.yml'), 'utf8')) as { tests: readonly RuleTest[] };
const { panels } = JSON.parse(readFileSync(at('deploy/grafana/sitewright.json'), 'utf8')) as {
  panels: readonly Panel[];
};
const shown = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

/** Metrics that the SDK exports only when the event happens, so that no healthy worker shows them. */
const ON_FAILURE = ['temporal_workflow_task_execution_failed_total'];

describe('the alert rules', () => {
  it.skipIf(!hasPromtool)('pass their tests in promtool', () => {
    const done = spawnSync('promtool', ['test', 'rules', at('deploy/prometheus/alerts.test.yml')], {
      encoding: 'utf8',
    });
    expect(done.stdout + done.stderr).toContain('SUCCESS');
    expect(done.status).toBe(0);
  });

  it('each have a test in which they fire, and one in which they do not', () => {
    const cases = tests.flatMap((test) => test.alert_rule_test);
    const tested = (fires: boolean) =>
      new Set(cases.filter(({ exp_alerts }) => exp_alerts.length > 0 === fires).map(({ alertname }) => alertname));
    const names = new Set(rules.map(({ alert }) => alert));
    expect(tested(true)).toEqual(names);
    expect(tested(false)).toEqual(names);
  });

  it('each have a next step', () => {
    for (const { alert, annotations } of rules)
      expect([alert, Object.keys(annotations).sort()]).toEqual([alert, ['action', 'summary']]);
  });
});

it('alert rules and dashboard ask for metrics that exist', async () => {
  const own = [new ApiMetrics('1', {} as never), new WorkerMetrics('1')].flatMap(({ registry }) =>
    registry.getMetricsAsArray().flatMap(({ name }) => [name, `${name}_bucket`, `${name}_count`, `${name}_sum`]),
  );
  const sdk = readFileSync(at('test/data/sdk-metrics.txt'), 'utf8').trim().split('\n');
  const known = new Set(['up', ...own, ...sdk.flatMap((name) => [name, `${name}_bucket`]), ...ON_FAILURE]);
  const names = (expr: string) => expr.match(/\b(?:up|(?:sitewright|temporal|nodejs|process)_[a-z0-9_]+)\b/g) ?? [];
  for (const { title, expr } of [...shown, ...rules.map(({ alert, expr }) => ({ title: alert, expr }))]) {
    expect(names(expr).length, title).toBeGreaterThan(0);
    expect(
      names(expr).filter((name) => !known.has(name)),
      title,
    ).toEqual([]);
  }
});

it.skipIf(!hasPromtool)('the dashboard has only expressions that Prometheus can read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sitewright-dashboard-'));
  try {
    const records = shown.map(({ expr }, n) => ({
      record: `panel:${n}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    writeFileSync(join(folder, 'rules.yml'), JSON.stringify({ groups: [{ name: 'dashboard', rules: records }] }));
    const said = execFileSync('promtool', ['check', 'rules', join(folder, 'rules.yml')], { encoding: 'utf8' });
    expect(said).toContain(`${shown.length} rules found`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
