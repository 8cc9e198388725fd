import type { ValuePath } from '../../core/data/plain-value.ts';
import { checkStrategy, type StrategyProblem } from '../../core/deployment/check-strategy.ts';
import { successesNeeded } from '../../core/deployment/criteria.ts';
import { parseLabelEntry } from '../../core/deployment/labels.ts';
import { selectNodes } from '../../core/deployment/selectors.ts';
import type { DeploymentStrategy, Group, Selector, SiteNode } from '../../core/deployment/strategy.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { policyOf } from '../../core/rollout/policy.ts';
import { waveSizes } from '../../core/rollout/waves.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { someOf } from '../../core/text/text.ts';

import { type Finding, placeProblem } from '../diagnostics/place-problem.ts';
import { CHECK_SCHEMA } from '../schemas/envelope.ts';
import type { YamlDocument } from '../yaml-document.ts';
import type { DocumentSet } from './document-set.ts';

/** Further problems of one kind are counted, not listed. */
const MAX_LISTED = 100;

/** Finds reasons why a strategy is unusable (duplicate groups, unknown dependencies, cycles, bad labels) or misleading. */
export function checkGroups(strategy: DeploymentStrategy, yaml: YamlDocument): Diagnostic[] {
  const problems = checkStrategy(strategy);
  const diagnostics = problems
    .slice(0, MAX_LISTED)
    .map((problem) => placeProblem(yaml, describe(problem, strategy, yaml)));
  if (problems.length > MAX_LISTED) {
    diagnostics.push(
      placeProblem(yaml, {
        code: 'strategy.more-problems',
        message: `${problems.length - MAX_LISTED} more problems in this strategy`,
        path: ['data', 'groups'],
        part: 'key',
      }),
    );
  }
  return [...diagnostics, ...withoutCriteria(strategy, yaml)];
}

/** A critical group that can only fail by a time limit. */
const withoutCriteria = ({ groups }: DeploymentStrategy, yaml: YamlDocument): Diagnostic[] =>
  groups.flatMap(({ name, critical, success_criteria: criteria }, index) =>
    critical && criteria === undefined && index < MAX_LISTED
      ? [
          placeProblem(yaml, {
            severity: 'warning',
            code: 'strategy.no-criteria',
            message: `group '${name}' is critical and has no success_criteria: it always succeeds, even if its nodes fail`,
            hint: 'Add success_criteria: {percent_successful_nodes: 100}, or write critical: false.',
            path: ['data', 'groups', index, 'critical'],
          }),
        ]
      : [],
  );

function describe(problem: StrategyProblem, strategy: DeploymentStrategy, yaml: YamlDocument): Finding {
  const path: ValuePath = ['data', ...problem.path];
  switch (problem.kind) {
    case 'duplicate-group': {
      const first = yaml.place(['data', ...problem.first]);
      return {
        code: 'strategy.duplicate-group',
        message: `a second group is named '${problem.group}'; the first is on line ${first.line}`,
        hint: 'depends_on refers to groups by name: give each its own.',
        path,
      };
    }
    case 'unknown-dependency':
      return {
        code: 'strategy.unknown-dependency',
        message: `group '${problem.group}' depends on '${problem.dependency}', which is not a group of this strategy`,
        hint: didYouMean(problem.dependency, problem.known) ?? `Groups: ${someOf(problem.known, 8)}.`,
        path,
      };
    case 'cycle': {
      const self = problem.members.length === 1;
      return {
        code: 'strategy.cycle',
        message: self
          ? `group '${problem.members[0]}' depends on itself`
          : `groups depend on each other in a cycle: ${problem.members.join(', ')}`,
        hint: self ? 'Remove its own name from depends_on.' : 'None of them could ever start: remove one dependency.',
        // The line of the dependency that closes the cycle is more useful than that of the whole list.
        path: closingDependency(problem, strategy) ?? path,
      };
    }
    case 'bad-label':
      return {
        code: 'strategy.bad-label',
        message: problem.detail,
        hint: "Write 'key: value' in quotes, with one colon; a value with a colon of its own as a mapping: {key: 'http://…'}.",
        path,
      };
  }
}

function closingDependency(problem: StrategyProblem & { kind: 'cycle' }, strategy: DeploymentStrategy) {
  const index = problem.path[1] as number;
  const inside = strategy.groups[index]?.depends_on.findIndex((name) => problem.members.includes(name)) ?? -1;
  return inside < 0 ? undefined : (['data', 'groups', index, 'depends_on', inside] as const);
}

/**
 * Compares a strategy with the nodes of its site. A critical group that can never meet its criteria is an error: each run would
 * fail. All else may be a mistake: selectors that match nothing, groups without nodes, nodes without a group.
 */
export function checkGroupNodes(
  strategy: DeploymentStrategy,
  yaml: YamlDocument,
  nodes: readonly SiteNode[],
  /** Documents of the nodes, in the order of `nodes`. */
  nodeDocuments: readonly YamlDocument[],
): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const warn = (document: YamlDocument, finding: Finding): void => {
    diagnostics.push(placeProblem(document, { severity: 'warning', ...finding }));
  };
  const site = new SiteWords(nodes);
  const inSomeGroup = new Set<number>();
  strategy.groups.forEach((group, g) => {
    group.selectors.forEach((selector, s) => {
      if (diagnostics.length > MAX_LISTED) return;
      for (const finding of site.unmatched(selector, ['data', 'groups', g, 'selectors', s])) warn(yaml, finding);
    });
    const selected = selectNodes(group.selectors, nodes);
    for (const index of selected) inSomeGroup.add(index);
    if (selected.length === 0) {
      warn(yaml, {
        code: 'strategy.empty-group',
        message: `group '${group.name}' selects no node`,
        hint: 'It counts as 100 % successful without doing anything.',
        path: ['data', 'groups', g, 'name'],
      });
    }
    const unmeetable = nodes.length > 0 && unmeetableCriteria(group, selected.length, ['data', 'groups', g]);
    if (unmeetable) warn(yaml, unmeetable);
  });
  diagnostics.push(...tooManyWaves(strategy, yaml, nodes));
  const left = nodes.flatMap((node, index) => (inSomeGroup.has(index) ? [] : [{ node, yaml: nodeDocuments[index]! }]));
  for (const { node, yaml: document } of left.slice(0, MAX_LISTED)) {
    warn(document, {
      code: 'strategy.node-in-no-group',
      message: `no group of the strategy selects node '${node.name}': it will not be deployed`,
      hint: node.tags.length > 0 ? `Its tags: ${someOf(node.tags, 8)}.` : 'It has no tags.',
      path: ['metadata', 'name'],
    });
  }
  const more = left[MAX_LISTED];
  if (more) {
    warn(more.yaml, {
      code: 'strategy.node-in-no-group',
      message: `no group selects ${left.length - MAX_LISTED} more nodes either, starting with '${more.node.name}'`,
      path: ['metadata', 'name'],
    });
  }
  return diagnostics;
}

/** Each wave leaves a few dozen events in the history of a run, which holds so many of them besides those of 400 nodes. */
const MAX_WAVES = 80;
/** Each call of a check has three. */
const CALLS_A_WAVE = 12;
/** A check is asked for all nodes reached so far, so many in one call. */
const NODES_A_CALL = 100;

/** Rollouts that together have more waves than a run can hold. */
function tooManyWaves({ groups }: DeploymentStrategy, yaml: YamlDocument, nodes: readonly SiteNode[]): Diagnostic[] {
  const waves = groups.map(({ selectors, rollout }) => {
    if (rollout === undefined) return 0;
    const sizes = waveSizes(policyOf(rollout), selectNodes(selectors, nodes).length);
    let reached = 0;
    const calls = sizes.reduce((sum, size) => sum + Math.ceil((reached += size) / NODES_A_CALL), 0);
    return sizes.length + Math.ceil((calls * (rollout.checks?.length ?? 0)) / CALLS_A_WAVE);
  });
  const all = waves.reduce((sum, count) => sum + count, 0);
  if (all <= MAX_WAVES) return [];
  const most = waves.indexOf(Math.max(...waves));
  return [
    placeProblem(yaml, {
      code: 'strategy.too-many-waves',
      message: `the rollouts of this strategy have ${all} waves with their checks, of which group '${groups[most]!.name}' has ${waves[most]}; a run holds at most ${MAX_WAVES}`,
      hint: 'Let the waves grow (then: double, or {add: …}), or make them larger.',
      path: ['data', 'groups', most, 'rollout'],
    }),
  ];
}

/** Criteria that no result of this many nodes meets. */
function unmeetableCriteria(
  { name, critical, success_criteria: criteria }: Group,
  nodes: number,
  path: ValuePath,
): Finding | undefined {
  if (successesNeeded(criteria, nodes) !== null) return undefined;
  return {
    severity: critical ? 'error' : 'warning',
    code: 'strategy.unmeetable-criteria',
    message: `group '${name}' can never succeed: it needs ${criteria!.minimum_successful_nodes} successful nodes and selects ${nodes}`,
    hint: critical
      ? 'It is critical, so every run of the site would fail: select more nodes, or lower minimum_successful_nodes.'
      : 'Groups that depend on it never start: select more nodes, or lower minimum_successful_nodes.',
    path: [...path, 'success_criteria', 'minimum_successful_nodes'],
  };
}

/** The names, tags, racks and labels that nodes of the site have. */
class SiteWords {
  readonly #names: ReadonlySet<string>;
  readonly #tags: ReadonlySet<string>;
  readonly #racks: ReadonlySet<string>;
  readonly #labels: ReadonlySet<string>;

  constructor(nodes: readonly SiteNode[]) {
    this.#names = new Set(nodes.map((node) => node.name));
    this.#tags = new Set(nodes.flatMap((node) => node.tags));
    this.#racks = new Set(nodes.flatMap((node) => (node.rack === null ? [] : [node.rack])));
    this.#labels = new Set(
      nodes.flatMap((node) => Object.entries(node.labels).map(([key, value]) => `${key}: ${value}`)),
    );
  }

  unmatched(selector: Selector, path: ValuePath): Finding[] {
    return [
      ...this.#unknown(selector.node_names, this.#names, 'node', 'is called', [...path, 'node_names']),
      ...this.#unknown(selector.node_tags, this.#tags, 'tag', 'has the tag', [...path, 'node_tags']),
      ...this.#unknown(selector.rack_names, this.#racks, 'rack', 'is in the rack', [...path, 'rack_names']),
      ...(selector.node_labels ?? []).flatMap((entry, index) => {
        const parsed = parseLabelEntry(entry);
        const labels = parsed.ok ? parsed.labels.map(({ key, value }) => `${key}: ${value}`) : [];
        return this.#unknown(labels, this.#labels, 'label', 'has the label', [...path, 'node_labels', index], true);
      }),
    ];
  }

  #unknown(
    wanted: readonly string[] | undefined,
    known: ReadonlySet<string>,
    kind: 'node' | 'tag' | 'rack' | 'label',
    relation: string,
    path: ValuePath,
    pathIsEntry = false,
  ): Finding[] {
    const unknown = (wanted ?? []).map((word, index) => ({ word, index })).filter(({ word }) => !known.has(word));
    return unknown.slice(0, MAX_LISTED).flatMap(({ word, index }): Finding[] => {
      return [
        {
          code: `strategy.unknown-${kind}`,
          message: `no node of the site ${relation} '${word}'`,
          hint:
            didYouMean(word, known) ??
            (known.size === 0 ? `No node has a ${kind}.` : `Known: ${someOf([...known], 8)}.`),
          path: pathIsEntry ? path : [...path, index],
        },
      ];
    });
  }
}

/** Checks of rollouts that the site does not have: what nobody can ask is never well. */
export function unknownChecks(
  { groups }: DeploymentStrategy,
  yaml: YamlDocument,
  documents: DocumentSet,
): Diagnostic[] {
  const known = documents.names(CHECK_SCHEMA);
  // The missing document may be an unreadable one.
  if (documents.incomplete) return [];
  const others =
    known.length > 0
      ? `Checks of this site: ${someOf(known, 8)}.`
      : `Add a document of the schema ${CHECK_SCHEMA} with that name.`;
  return groups.flatMap(({ name: group, rollout }, at) =>
    (rollout?.checks ?? []).flatMap((check, index) =>
      known.includes(check)
        ? []
        : [
            placeProblem(yaml, {
              code: 'strategy.unknown-check',
              message: `the rollout of group '${group}' names the check '${check}', which the site does not have`,
              hint: didYouMean(check, known) ?? others,
              path: ['data', 'groups', at, 'rollout', 'checks', index],
            }),
          ],
    ),
  );
}
