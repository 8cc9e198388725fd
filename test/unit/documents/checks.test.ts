import { expect, it } from 'vitest';
import { loadSite } from '../../../src/documents/index.ts';
import { CONFIGURATION, document, files, findings, node, strategy } from './site-files.ts';

const check = (name: string, data: string): string => document('sitewright/Check/v1', name, data);
const rolledOut = (checks: string): string =>
  strategy(`- {name: g, critical: false, depends_on: [], selectors: [], rollout: {first: 1, checks: ${checks}}}`);
const found = (...checks: string[]): string[] =>
  findings(
    CONFIGURATION,
    strategy('- {name: g, critical: false, depends_on: [], selectors: []}'),
    node('n1'),
    ...checks,
  );

it('the checks of a site have what holds where nothing is written', () => {
  const { site, diagnostics } = loadSite(
    files(
      ...[CONFIGURATION, node('n1'), rolledOut('[metrics, gateway]')],
      check(
        'metrics',
        `{http: {url: {yaql_exp: "'http://' + $.node.address + ':9100/metrics'"}}, within: 2m, failures: 3}`,
      ),
      check('gateway', '{from: worker, tcp: {host: gw.example.org, port: 443}, every: 1m, timeout: 3s}'),
      check('disk', '{command: {cmd: df /}, timeout: 30s}'),
      check('health', '{graph: {type: health}}'),
      check('peer', '{from: neighbour, tcp: {host: {yaql_exp: $.node.address}, port: 22}}'),
      check('errors', '{prometheus: {url: "https://prom.example.org", query: "sum(errors)", is: {between: [0, 5]}}}'),
    ),
  );
  expect(diagnostics).toEqual([]);
  expect(site!.groups[0]!.rollout!.checks).toEqual(['metrics', 'gateway']);
  expect(site!.checks!.map(({ from }) => from).filter(Boolean)).toHaveLength(3);
  expect(site!.checks).toMatchObject([
    { name: 'metrics', probe: { kind: 'http', status: 200 }, within: 120, every: 5, failures: 3, timeout: 10 },
    { name: 'gateway', probe: { kind: 'tcp', port: 443 }, within: 0, every: 60, failures: 2, timeout: 3 },
    { name: 'disk', from: 'node', probe: { kind: 'command', cmd: 'df /' }, timeout: 30 },
    { name: 'health', from: 'node', probe: { kind: 'graph', type: 'health' } },
    { name: 'peer', from: 'neighbour', probe: { kind: 'tcp', port: 22 } },
    { name: 'errors', probe: { kind: 'prometheus', is: { between: [0, 5] } } },
  ]);
});

it('a site without checks is resolved as before', () => {
  expect(Object.keys(loadSite(files(CONFIGURATION, node('n1'))).site!)).not.toContain('checks');
});

it('all problems of checks are found together, each with its place', () => {
  expect(
    found(
      check('none', '{every: 5s}'),
      check('two', '{tcp: {host: a, port: 1}, http: {url: "http://a/"}}'),
      check('bad', '{http: {url: "file:///etc/passwd", status: 99, unknown: 1}, within: 2h, every: 0s, failures: 0}'),
      check('user', '{http: {url: "http://root:secret@a/"}}'),
      check('yaql', '{tcp: {host: {yaql_exp: "$.node."}, port: 70000}}'),
      check('prom', '{prometheus: {url: "http://p", query: up, is: {above: 1, below: 2}}}'),
      check('prom-of-node', '{from: node, prometheus: {url: "http://p", query: up, is: {above: 1}}}'),
      check('command-of-worker', '{from: worker, command: {cmd: ls}}'),
      check('from', '{from: moon, tcp: {host: "a b", port: 1}}'),
    ).map((line) => line.replace(/^(\S+ \S+ \S+?):\S+.*/, '$1')),
  ).toEqual([
    'error document.wrong-value 4.yaml',
    'error document.wrong-value 5.yaml',
    ...['wrong-value', 'wrong-value', 'unknown-key', 'wrong-value', 'wrong-value', 'wrong-value'].map(
      (code) => `error document.${code} 6.yaml`,
    ),
    'error document.wrong-value 7.yaml',
    ...['error document.wrong-value 8.yaml', 'error document.wrong-value 8.yaml'],
    'error document.wrong-value 9.yaml',
    'error document.wrong-value 10.yaml',
    'error document.wrong-value 11.yaml',
    ...['error document.wrong-value 12.yaml', 'error document.wrong-value 12.yaml'],
  ]);
});

it('a rollout names only checks that the site has', () => {
  expect(
    findings(CONFIGURATION, node('n1'), rolledOut('[gatway, other]'), check('gateway', '{tcp: {host: a, port: 1}}')),
  ).toEqual(['error strategy.unknown-check 3.yaml:7:94 gatway', 'error strategy.unknown-check 3.yaml:7:102 other']);
});
