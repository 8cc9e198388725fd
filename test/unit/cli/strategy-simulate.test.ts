import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { simulateCase, simulateCases } from '../../../src/cli/commands/strategy-cases.ts';
import { planGroups } from '../../../src/core/deployment/plan-groups.ts';
import type { SimulatedOutcome, SimulationInput } from '../../../src/core/deployment/simulate.ts';
import { type DeploymentStrategy, type SiteNode, targetedStrategy } from '../../../src/core/deployment/strategy.ts';
import { illegalitiesOf } from '../../rig/legal-deployment.ts';
import { cli } from './recording-terminal.ts';

interface Vector {
  readonly id: string;
  readonly input: SimulationInput;
  readonly expected: Readonly<Record<string, unknown>> & { readonly rejected?: string };
  readonly expected_group_nodes?: Readonly<Record<string, readonly string[]>>;
  readonly order_dependent?: boolean;
  readonly allowed_finals?: readonly Readonly<Record<string, unknown>>[];
}

const folder = fileURLToPath(new URL('../../data/shipyard/vectors/', import.meta.url));
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => join(folder, name));
const vectors = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Vector);

let scratch = '';
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'sitewright-cli-'));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function written(text: string): string {
  const file = join(scratch, 'cases');
  writeFileSync(file, text);
  return file;
}

/** One line of the output, as JSON. */
type Line = Readonly<Record<string, unknown>> & {
  readonly id: unknown;
  readonly rejected?: readonly string[];
};
const linesOf = (out: string): Line[] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

function judge(vector: Vector, line: Line): void {
  expect(line.id).toBe(vector.id);
  if (vector.expected.rejected !== undefined) {
    expect(Object.keys(line)).toEqual(['id', 'rejected']);
    expect(line.rejected?.length).toBeGreaterThan(0);
    return;
  }
  expect(Object.keys(line)).toEqual(['id', 'order', 'processed', 'calls', 'groups', 'nodes', 'halts']);
  const { groups, nodes, halts } = line;
  const finals = vector.order_dependent ? vector.allowed_finals! : [vector.expected];
  expect(finals).toContainEqual(expect.objectContaining({ groups, nodes, halts }));
  expect(illegalitiesOf(vector.input, vector.expected_group_nodes!, line as never)).toEqual([]);
}

describe('recorded cases', () => {
  it('give the expected results, each file separately', async () => {
    expect(files.length).toBe(31);
    for (const [at, file] of files.entries()) {
      const { code, out, err } = await cli(['strategy', 'simulate', '--input', file]);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      const lines = linesOf(out);
      expect(lines.length).toBe(1);
      judge(vectors[at]!, lines[0]!);
    }
  });

  it('give the same results as JSON Lines, and as one list', async () => {
    for (const text of [vectors.map((vector) => JSON.stringify(vector)).join('\n'), JSON.stringify(vectors)]) {
      const { code, out } = await cli(['strategy', 'simulate', '--input', written(text)]);
      expect(code).toBe(0);
      const lines = linesOf(out);
      expect(lines.length).toBe(vectors.length);
      for (const [at, line] of lines.entries()) judge(vectors[at]!, line);
    }
  });

  it.each([
    ['30-cycle', /cycle among a, b, c/],
    ['31-self-dependency', /cycle among a/],
    ['32-unknown-dependency', /unknown dependency ghost/],
    ['33-duplicate-name', /duplicate group name/],
    ['34-bad-label', /'gold' is not key:value/],
    ['35-missing-field', /'depends_on' is missing/],
  ])('%s is refused with the reason', (id, reason) => {
    const vector = vectors.find((one) => one.id === id)!;
    const result = simulateCase(vector);
    expect('rejected' in result && result.rejected.join()).toMatch(reason);
  });
});

describe('malformed input', () => {
  const good = { id: 'good', input: { strategy: null, nodes: [{ name: 'a' }] } };

  it('never stops the other lines; a line that is not JSON makes the exit code 2', async () => {
    const text = `${JSON.stringify(good)}\n{"id": "bro\n\n[]\n42\n${JSON.stringify({ ...good, id: 'last' })}\r\n`;
    const { code, out } = await cli(['strategy', 'simulate', '--input', written(text)]);
    expect(code).toBe(2);
    const lines = linesOf(out);
    expect(lines.map(({ id }) => id)).toEqual(['good', null, null, null, 'last']);
    expect(lines[1]?.rejected?.[0]).toMatch(/^line 2 is not JSON/);
    expect(lines[2]?.rejected?.[0]).toMatch(/must be a JSON object/);
    expect(lines[4]).toMatchObject({ groups: { default: 'DEPLOYED' }, nodes: { a: 'DEPLOYED' }, halts: false });
  });

  it.each([
    ['nothing', ''],
    ['blanks', ' \n\n'],
    ['no JSON', 'groups: []\n'],
    ['half an object', '{\n "id": 1,\n'],
  ])('%s is refused as a whole', (_what, text) => {
    const { results, unreadable } = simulateCases(text);
    expect(unreadable).toBe(1);
    expect(results).toEqual([{ id: null, rejected: [expect.stringMatching(/no case|not JSON/)] }]);
  });

  it('is refused with all reasons', () => {
    const result = simulateCase({
      id: 7,
      input: {
        strategy: { groups: [{ name: 'g', critical: 'yes', depends_on: [], selectors: [] }] },
        nodes: [{ name: 'a', rack: 3, tags: 'x', labels: { k: {} } }, { name: 'a' }, 5, { rack: 'r' }],
        outcomes: { a: { prepare: 'maybe', boot: 'success' }, b: [] },
        target_nodes: 'a',
      },
    });
    expect(result).toEqual({
      id: 7,
      rejected: [
        'nodes[0].rack must be text, not 3',
        "nodes[0].tags must be a list, not the text 'x'",
        'nodes[0].labels.k must be text or a whole number or true or false, not an object',
        'nodes[2] must be an object, not 5',
        "'name' is missing in nodes[3]",
        "outcomes.a.prepare must be success or failure or timeout or no_join, not the text 'maybe'",
        "unknown key 'boot' in outcomes.a",
        'outcomes.b must be an object, not a list',
        "target_nodes must be a list, not the text 'a'",
        "nodes: 'a' is in the list twice",
        expect.stringMatching(/^strategy: .*critical/),
      ],
    });
  });

  it('that is a missing file is reported as not found', async () => {
    const { code, err } = await cli(['strategy', 'simulate', '--input', join(scratch, 'absent')]);
    expect(code).toBe(3);
    expect(err).toContain(join(scratch, 'absent'));
  });

  it('that is any JSON gets an answer', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { id, ...result } = simulateCase(value);
        expect(id === null || ['string', 'number'].includes(typeof id)).toBe(true);
        expect('rejected' in result ? result.rejected.length > 0 : 'order' in result).toBe(true);
      }),
    );
  });
});

it('racks, tags and labels may be missing or null', () => {
  const selectors = [{ node_tags: ['t'] }, { rack_names: ['r'] }, { node_labels: ['k:1', 'on: true'] }];
  const strategy = { groups: [{ name: 'g', critical: false, depends_on: [], selectors }] };
  const nodes = [
    { name: 'bare' },
    { name: 'nulls', rack: null, tags: null, labels: null },
    { name: 'tagged', tags: ['t'] },
    { name: 'racked', rack: 'r' },
    { name: 'number', labels: { k: 1 } },
    { name: 'flag', labels: { on: true } },
  ];
  expect(simulateCase({ id: 'x', input: { strategy, nodes } })).toMatchObject({
    nodes: { tagged: 'DEPLOYED', racked: 'DEPLOYED', number: 'DEPLOYED', flag: 'DEPLOYED' },
  });
});

it('random cases follow the rules of the specification', () => {
  const name = fc.integer({ min: 0, max: 9 }).map((number) => `n${number}`);
  const list = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 3 });
  const node = fc.record(
    {
      rack: fc.constantFrom('r1', 'r2', null),
      tags: fc.subarray(['control', 'compute']),
      labels: fc.dictionary(fc.constantFrom('tier', 'gpu'), fc.constantFrom('a', 'b')),
    },
    { requiredKeys: [] },
  );
  const nodes = fc.array(node, { maxLength: 10 }).map((all) => all.map((one, at) => ({ name: `n${at}`, ...one })));
  const selector = fc.record(
    {
      node_names: list(name),
      node_tags: list(fc.constantFrom('control', 'compute', 'none')),
      rack_names: list(fc.constantFrom('r1', 'r2', 'r3')),
      node_labels: list(fc.constantFrom('tier: a', 'gpu:b')),
    },
    { requiredKeys: [] },
  );
  const criteria = fc
    .record(
      {
        percent_successful_nodes: fc.integer({ min: 0, max: 100 }),
        minimum_successful_nodes: fc.integer({ min: 0, max: 5 }),
        maximum_failed_nodes: fc.integer({ min: 0, max: 5 }),
      },
      { requiredKeys: [] },
    )
    .filter((all) => Object.keys(all).length > 0);
  const group = fc.record(
    {
      critical: fc.boolean(),
      selectors: fc.array(selector, { maxLength: 2 }),
      parents: fc.array(fc.nat(), { maxLength: 2 }),
      success_criteria: criteria,
    },
    { requiredKeys: ['critical', 'selectors', 'parents'] },
  );
  const strategy = fc.array(group, { maxLength: 6 }).chain((groups) => {
    const named = groups.map(({ parents, ...rest }, at) => ({
      name: `g${at}`,
      depends_on: at === 0 ? [] : [...new Set(parents.map((parent) => `g${parent % at}`))],
      ...rest,
    }));
    return fc
      .shuffledSubarray(named, { minLength: named.length, maxLength: named.length })
      .map((all) => ({ groups: all }) as DeploymentStrategy);
  });
  const outcome = fc.constantFrom<SimulatedOutcome>('success', 'failure', 'timeout', 'no_join');
  const outcomes = fc.dictionary(name, fc.record({ prepare: outcome, deploy: outcome }, { requiredKeys: [] }));
  const targets = fc.option(fc.uniqueArray(name, { minLength: 1, maxLength: 4 }), { nil: undefined, freq: 5 });

  fc.assert(
    fc.property(fc.array(fc.tuple(fc.option(strategy), nodes, outcomes, targets), { maxLength: 4 }), (cases) => {
      const text = cases
        .map(([plan, all, results, target_nodes], id) =>
          JSON.stringify({ id, input: { strategy: plan, nodes: all, outcomes: results, target_nodes } }),
        )
        .join('\n');
      if (cases.length === 0) return;
      const { results } = simulateCases(text);
      expect(results.map(({ id }) => id)).toEqual(cases.map((_, id) => id));
      for (const [at, result] of results.entries()) {
        if ('rejected' in result) throw new Error(result.rejected.join());
        const [plan, all, scripted, target_nodes] = cases[at]!;
        const whole = all.map((one): SiteNode => ({ rack: null, tags: [], labels: {}, ...one }));
        const everything: DeploymentStrategy = {
          groups: [{ name: 'default', critical: true, depends_on: [], selectors: [] }],
        };
        const used = target_nodes ? targetedStrategy(target_nodes) : (plan ?? everything);
        const groupNodes = Object.fromEntries(
          planGroups(used, whole).map((one) => [one.name, one.nodes.map((index) => whole[index]!.name)]),
        );
        const input = { strategy: plan, nodes: whole, outcomes: scripted, ...(target_nodes ? { target_nodes } : {}) };
        expect(illegalitiesOf(input, groupNodes, result)).toEqual([]);
      }
    }),
  );
});
