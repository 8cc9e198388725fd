import { isMapping } from '../../core/data/plain-value.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { compareKeys, someOf } from '../../core/text/text.ts';
import { type Fields, isInstanceTag } from '../../graph/index.ts';
import { turnOnTagsEngine } from '../settings.ts';
import { type ClusterNode, type ClusterSources, nameOf } from '../sources.ts';
import type { Catalogue } from '../tags/catalogue.ts';
import { allRoles, catalogueOfCluster, effectiveTags, tagsOfRoles } from '../tags/of-sources.ts';
import { checkLimits } from './limits.ts';
import { checkRestrictions } from './restrictions.ts';
import type { ExpressionModels } from './settings-expression.ts';

/** A finding about a cluster before a run, with the affected nodes, role or tags. */
export interface ClusterFinding extends Diagnostic {
  /** Ids of the affected nodes. */
  readonly nodes?: readonly number[];
  readonly role?: string;
  readonly tags?: readonly string[];
}

interface CheckOptions {
  /** Ids of the run's nodes: findings about single nodes cover only these. Default: all. */
  readonly nodes?: readonly number[];
  /** Value of `version:feature_groups` in conditions. Default: all features. */
  readonly featureGroups?: readonly string[];
}

const ALL_FEATURES: readonly string[] = ['advanced', 'experimental'];

/**
 * Checks a whole cluster before a run: offline nodes; roles that exclude each other, that the settings forbid, or that
 * too few or too many nodes have; tags without nodes. Only errors prevent a start.
 */
export function checkCluster(sources: ClusterSources, options: CheckOptions = {}): readonly ClusterFinding[] {
  const catalogue = catalogueOfCluster(sources);
  const asked = options.nodes === undefined ? undefined : new Set(options.nodes);
  const staying = sources.nodes.filter((node) => !node.pendingDeletion);
  const inRun = staying.filter(({ id }) => asked === undefined || asked.has(id));
  const models = modelsOf(sources, options.featureGroups);
  return [
    ...offline(inRun),
    ...unknownRoles(inRun, catalogue),
    ...roleConflicts(inRun, catalogue),
    ...roleRestrictions(inRun, catalogue, models),
    ...roleLimits(staying, catalogue, models),
    ...unassignedTags(staying, sources, catalogue),
    ...ignoredTags(staying, sources, catalogue),
    ...changedRoleTags(staying, sources.cluster.id),
  ];
}

interface ConditionSources {
  readonly cluster: Pick<ClusterSources['cluster'], 'id' | 'name' | 'mode' | 'status' | 'settings' | 'networks'>;
  readonly release: Pick<ClusterSources['release'], 'name' | 'version' | 'operatingSystem'>;
}

/** The data that conditions may use. */
export function modelsOf(
  { cluster, release }: ConditionSources,
  featureGroups: readonly string[] = ALL_FEATURES,
): ExpressionModels {
  const { settings, networks } = cluster;
  const mapping = (value: unknown): Fields | undefined => (isMapping(value) ? (value as Fields) : undefined);
  return {
    settings: mapping(settings.editable) ?? settings,
    cluster: { id: cluster.id, name: cluster.name, mode: cluster.mode, status: cluster.status },
    release: { name: release.name, version: release.version, operating_system: release.operatingSystem },
    version: { feature_groups: featureGroups },
    networking_parameters: mapping(networks?.networking_parameters) ?? {},
  };
}

function offline(nodes: readonly ClusterNode[]): ClusterFinding[] {
  // Who works on a node may have switched it off.
  const away = nodes.filter((node) => !node.online && node.maintenance === undefined);
  if (away.length === 0) return [];
  return [
    {
      severity: 'error',
      code: 'check.nodes-offline',
      message: `Nodes "${away.map(nameOf).join(',')}" are offline. Remove them from environment and try again.`,
      hint: 'Bring them back online, exclude them from the run, or add --force (API: force): then no tasks are planned for them.',
      nodes: away.map(({ id }) => id),
    },
  ];
}

function unknownRoles(nodes: readonly ClusterNode[], { roles }: Catalogue): ClusterFinding[] {
  return rolesInUse(nodes)
    .filter(([role]) => !roles.has(role))
    .map(([role, having]) => ({
      severity: 'error',
      code: 'check.role-unknown',
      message: `Role '${role}' is unknown to the release and the plugins of the cluster.`,
      hint: 'Assign another role, or enable the plugin with this role.',
      role,
      nodes: having,
    }));
}

function roleConflicts(nodes: readonly ClusterNode[], { roles }: Catalogue): ClusterFinding[] {
  const found = new Map<string, { first: string; second: string; nodes: number[] }>();
  for (const node of nodes) {
    const own = [...allRoles(node)].sort();
    for (const first of own) {
      const { conflicts } = roles.get(first)?.meta ?? {};
      const against = typeof conflicts === 'string' ? [conflicts] : Array.isArray(conflicts) ? conflicts : [];
      for (const second of own) {
        if (second === first || !(against.includes('*') || against.includes(second))) continue;
        const key = JSON.stringify([first, second].sort());
        const known = found.get(key);
        if (known === undefined) found.set(key, { first, second, nodes: [node.id] });
        else if (!known.nodes.includes(node.id)) known.nodes.push(node.id);
      }
    }
  }
  return [...found.values()].map(({ first, second, nodes: having }) => ({
    severity: 'error',
    code: 'check.role-conflict',
    message: `Role '${first}' in conflict with role '${second}'.`,
    hint: `Remove one of them from ${nodesText(having, nodes)}.`,
    role: first,
    nodes: having,
  }));
}

function roleRestrictions(
  nodes: readonly ClusterNode[],
  { roles }: Catalogue,
  models: ExpressionModels,
): ClusterFinding[] {
  return rolesInUse(nodes).flatMap(([role, having]): ClusterFinding[] => {
    const { holding, doubts } = checkRestrictions(roles.get(role)?.meta.restrictions, models);
    const about = { role, nodes: having };
    const mismatch: ClusterFinding[] =
      holding.length === 0
        ? []
        : [
            {
              severity: 'error',
              code: 'check.role-restricted',
              message: `Role '${role}' restrictions mismatch: ${holding.map(({ message, condition }) => message ?? condition).join(' ')}`,
              hint: `Change the settings, or remove the role from ${nodesText(having, nodes)}.`,
              ...about,
            },
          ];
    const doubtful = doubts.map(
      ({ condition, message }): ClusterFinding => ({
        severity: 'warning',
        code: 'check.condition-doubtful',
        message: `A restriction of role '${role}' cannot be evaluated reliably: ${message}`,
        hint: 'Correct the condition in the release or plugin.',
        text: condition.slice(0, 200),
        ...about,
      }),
    );
    return [...mismatch, ...doubtful];
  });
}

/** Checks only roles that the settings allow, because more nodes cannot get the others. */
function roleLimits(nodes: readonly ClusterNode[], { roles }: Catalogue, models: ExpressionModels): ClusterFinding[] {
  return [...roles].flatMap(([role, { meta }]) => {
    if (checkRestrictions(meta.restrictions, models).holding.length > 0) return [];
    const having = nodes.filter((node) => allRoles(node).includes(role)).map(({ id }) => id);
    return checkLimits(meta.limits, having.length, models).map(({ type, limit, message }): ClusterFinding => {
      const [code, phrase] = LIMIT_PHRASES[type];
      const counted = `${having.length} ${having.length === 1 ? 'node has' : 'nodes have'} role '${role}'`;
      return {
        severity: type === 'recommended' ? 'warning' : 'error',
        code,
        message: `${counted}; ${phrase} ${limit}.${message === undefined ? '' : ` ${message}`}`,
        hint: type === 'max' ? `Remove the role from ${nodesText(having, nodes)}.` : 'Assign the role to more nodes.',
        role,
        nodes: having,
      };
    });
  });
}

const LIMIT_PHRASES = {
  min: ['check.role-below-minimum', 'the minimum is'],
  max: ['check.role-above-maximum', 'the maximum is'],
  recommended: ['check.role-below-recommended', 'the recommended number is'],
} as const;

function unassignedTags(
  nodes: readonly ClusterNode[],
  sources: ClusterSources,
  catalogue: Catalogue,
): ClusterFinding[] {
  if (nodes.length === 0) return [];
  const assigned = new Set<string>();
  const bare: number[] = [];
  for (const node of nodes) {
    const tags = effectiveTags(node, sources, catalogue);
    const given = sources.cluster.placesByTags ? node.tags : tags;
    if (!given.some((tag) => !isInstanceTag(tag))) bare.push(node.id);
    for (const tag of tags) assigned.add(tag);
  }
  const missing = [...catalogue.tags.values()]
    .filter(({ name, owner, implied }) => owner.kind !== 'cluster' && !implied && !assigned.has(name))
    .map(({ name }) => name)
    .sort();
  const found: ClusterFinding[] = [];
  if (missing.length > 0) {
    found.push({
      severity: 'info',
      code: 'check.tags-unassigned',
      message: `No node has ${missing.length === 1 ? 'the tag' : 'the tags'} ${missing.join(', ')}.`,
      hint: `Tasks for ${missing.length === 1 ? 'it' : 'them'} do not run. ${
        sources.cluster.placesByTags
          ? `To run them: sitewright tag assign --node NODE --tag ${missing[0]}`
          : `Roles alone give tags here. To assign them: ${turnOnTagsEngine(sources.cluster)}`
      }`,
      tags: missing,
    });
  }
  if (bare.length > 0) {
    found.push({
      severity: 'info',
      code: 'check.node-without-tags',
      message: `${capital(nodesText(bare, nodes))} ${bare.length === 1 ? 'has' : 'have'} no tags: only tasks for the names of ${bare.length === 1 ? 'its' : 'their'} roles run there.`,
      ...(sources.cluster.placesByTags && {
        hint: `Assign tags: sitewright tag assign --node ${bare.join(',')} --tag TAG`,
      }),
      nodes: bare,
    });
  }
  return found;
}

/**
 * With the tags engine off, manual assignments have no effect. Without this finding the reason would be hard to see.
 */
function ignoredTags(nodes: readonly ClusterNode[], sources: ClusterSources, catalogue: Catalogue): ClusterFinding[] {
  // A cluster without any assignment predates assigned tags, so it has nothing to ignore.
  if (sources.cluster.placesByTags || nodes.every(({ tags }) => tags.length === 0)) return [];
  const moved = nodes.flatMap((node) => {
    const given = new Set(tagsOfRoles(node, catalogue));
    const differing = [
      ...node.tags.filter((tag) => !given.has(tag)),
      ...[...given].filter((tag) => !node.tags.includes(tag)),
    ];
    return differing.length === 0 ? [] : [{ id: node.id, tags: differing }];
  });
  if (moved.length === 0) return [];
  const ids = moved.map(({ id }) => id);
  return [
    {
      severity: 'warning',
      code: 'check.tags-ignored',
      message: `The tags engine is off: manual tag changes on ${nodesText(ids, nodes)} have no effect.`,
      hint: `To place tasks by assigned tags, turn it on: ${turnOnTagsEngine(sources.cluster)}`,
      nodes: ids,
      tags: [...new Set(moved.flatMap(({ tags }) => tags))].sort(),
    },
  ];
}

/** Changes of roles that the nodes get with the next run. */
function changedRoleTags(nodes: readonly ClusterNode[], cluster: number): ClusterFinding[] {
  const found = new Map<string, { role: string; tags: string[]; what: string; nodes: number[] }>();
  for (const { id, roleTagChanges = [] } of nodes) {
    for (const { role, given, lost } of roleTagChanges) {
      for (const [tags, what] of [
        [given, 'gives'],
        [lost, 'takes away'],
      ] as const) {
        const key = JSON.stringify([role, what, tags]);
        const known = found.get(key);
        if (known !== undefined) known.nodes.push(id);
        else if (tags.length > 0) found.set(key, { role, tags: [...tags], what, nodes: [id] });
      }
    }
  }
  return [...found.values()].map(({ role, tags, what, nodes: ids }) => ({
    severity: 'info',
    code: 'check.tags-pending',
    message: `Role '${role}' has changed: it ${what} ${tags.length === 1 ? 'the tag' : 'the tags'} ${tags.join(', ')} on ${nodesText(ids, nodes)} with the next run.`,
    hint: `To apply it now: 'sitewright tag apply --cluster ${cluster}'. To keep a tag, or to go without it, assign or remove it by hand.`,
    role,
    tags,
    nodes: ids,
  }));
}

/** Roles of these nodes, sorted, each with its nodes. */
function rolesInUse(nodes: readonly ClusterNode[]): [role: string, nodes: readonly number[]][] {
  const found = new Map<string, number[]>();
  for (const node of nodes) {
    for (const role of allRoles(node)) {
      const having = found.get(role);
      if (having === undefined) found.set(role, [node.id]);
      else having.push(node.id);
    }
  }
  return [...found].sort(compareKeys);
}

const SHOWN = 10;
function nodesText(ids: readonly number[], nodes: readonly ClusterNode[]): string {
  const named = new Set(ids);
  const names = nodes.filter(({ id }) => named.has(id)).map(nameOf);
  return `node${ids.length === 1 ? '' : 's'} ${someOf(names, SHOWN)}`;
}

const capital = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`;
