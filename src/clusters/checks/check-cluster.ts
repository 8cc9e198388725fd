import type { Diagnostic } from '../../core/diagnostic.js';
import { isMapping } from '../../core/plain-value.js';
import type { Fields } from '../../graph/index.js';
import type { ClusterNode, ClusterSources } from '../sources.js';
import type { Catalogue } from '../tags/catalogue.js';
import { allRoles, catalogueOfCluster, countingTags, tagsOfRoles } from '../tags/of-sources.js';
import { isInstanceTag } from '../tags/tag-name.js';
import { checkLimits } from './limits.js';
import { checkRestrictions } from './restrictions.js';
import type { ExpressionModels } from './settings-expression.js';

/** A finding about a cluster before a run, with what it is about. */
export interface ClusterFinding extends Diagnostic {
  /** Ids of the nodes it is about. */
  readonly nodes?: readonly number[];
  readonly role?: string;
  readonly tags?: readonly string[];
}

export interface CheckOptions {
  /** Ids of the nodes of the run: what is said of single nodes is said of these only. Default: all. */
  readonly nodes?: readonly number[];
  /** What `version:feature_groups` is in conditions. Default: everything is offered. */
  readonly featureGroups?: readonly string[];
}

const ALL_FEATURES: readonly string[] = ['advanced', 'experimental'];

/**
 * Looks at a cluster before a run, as a whole: nodes that are offline, roles that exclude each other, that the settings
 * do not allow, or that too few or too many nodes have, and tags that no node has. Errors are reasons not to start;
 * warnings and information are not.
 */
export function checkCluster(sources: ClusterSources, options: CheckOptions = {}): readonly ClusterFinding[] {
  const catalogue = catalogueOfCluster(sources);
  const asked = options.nodes === undefined ? undefined : new Set(options.nodes);
  const staying = sources.nodes.filter((node) => !node.pendingDeletion);
  const inRun = staying.filter(({ id }) => asked === undefined || asked.has(id));
  const models = modelsOf(sources, options.featureGroups ?? ALL_FEATURES);
  return [
    ...offline(inRun),
    ...unknownRoles(inRun, catalogue),
    ...roleConflicts(inRun, catalogue),
    ...roleRestrictions(inRun, catalogue, models),
    ...roleLimits(staying, catalogue, models),
    ...unassignedTags(staying, sources, catalogue),
    ...ignoredTags(staying, sources, catalogue),
  ];
}

/** What conditions may name. */
function modelsOf({ cluster, release }: ClusterSources, featureGroups: readonly string[]): ExpressionModels {
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
  const away = nodes.filter((node) => !node.online);
  if (away.length === 0) return [];
  return [
    {
      severity: 'error',
      code: 'check.nodes-offline',
      message: `Nodes "${away.map(nameOf).join(',')}" are offline. Remove them from environment and try again.`,
      hint: 'Bring them back, leave them out of the run, or force it: tasks for them are not planned then.',
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
      message: `Role '${role}' is known neither to the release nor to a plugin of the cluster.`,
      hint: 'Assign another role, or enable the plugin that brings it.',
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
    hint: `Take one of the two away from ${nodesText(having)}.`,
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
              hint: `Change the settings, or take the role away from ${nodesText(having)}.`,
              ...about,
            },
          ];
    const doubtful = doubts.map(
      ({ condition, message }): ClusterFinding => ({
        severity: 'warning',
        code: 'check.condition-doubtful',
        message: `A restriction of role '${role}' cannot be relied upon: ${message}`,
        hint: 'Correct the condition in the release or plugin.',
        text: condition.slice(0, 200),
        ...about,
      }),
    );
    return [...mismatch, ...doubtful];
  });
}

/** Of roles that the settings allow: the others cannot be assigned, so nobody can be asked for more of them. */
function roleLimits(nodes: readonly ClusterNode[], { roles }: Catalogue, models: ExpressionModels): ClusterFinding[] {
  return [...roles].flatMap(([role, { meta }]) => {
    if (checkRestrictions(meta.restrictions, models).holding.length > 0) return [];
    const having = nodes.filter((node) => allRoles(node).includes(role)).map(({ id }) => id);
    return checkLimits(meta.limits, having.length, models).map(({ type, limit, message }): ClusterFinding => {
      const [code, words] = LIMIT_WORDS[type];
      const counted = `${having.length} ${having.length === 1 ? 'node has' : 'nodes have'} role '${role}'`;
      return {
        severity: type === 'recommended' ? 'warning' : 'error',
        code,
        message: `${counted}; ${words} ${limit}.${message === undefined ? '' : ` ${message}`}`,
        hint: type === 'max' ? `Take the role away from ${nodesText(having)}.` : 'Assign the role to more nodes.',
        role,
        nodes: having,
      };
    });
  });
}

const LIMIT_WORDS = {
  min: ['check.role-below-minimum', 'at least needed:'],
  max: ['check.role-above-maximum', 'at most allowed:'],
  recommended: ['check.role-below-recommended', 'recommended:'],
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
    const tags = countingTags(node, sources, catalogue);
    if (!tags.some((tag) => !isInstanceTag(tag))) bare.push(node.id);
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
      hint: 'Tasks for them run nowhere. Assign them to nodes if the cluster is to have what they stand for.',
      tags: missing,
    });
  }
  if (bare.length > 0) {
    found.push({
      severity: 'info',
      code: 'check.node-without-tags',
      message: `${capital(nodesText(bare))} ${bare.length === 1 ? 'has' : 'have'} no tags: no task is placed there by tags.`,
      hint: 'Assign a role or tags.',
      nodes: bare,
    });
  }
  return found;
}

/** With the tags engine switched off, what was moved by hand does not count: nobody would find out why by looking. */
function ignoredTags(nodes: readonly ClusterNode[], sources: ClusterSources, catalogue: Catalogue): ClusterFinding[] {
  // Without a single assignment in the cluster there is nothing to ignore: it is from before tags were assigned.
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
      message: `The tags engine is off: what was given to or taken from ${nodesText(ids)} by hand does not count.`,
      hint: 'Switch on the setting tags_resolution_engine to place tasks by the tags that are assigned.',
      nodes: ids,
      tags: [...new Set(moved.flatMap(({ tags }) => tags))].sort(),
    },
  ];
}

/** Roles of these nodes, sorted, each with the nodes that have it. */
function rolesInUse(nodes: readonly ClusterNode[]): [role: string, nodes: readonly number[]][] {
  const found = new Map<string, number[]>();
  for (const node of nodes) {
    for (const role of allRoles(node)) {
      const having = found.get(role);
      if (having === undefined) found.set(role, [node.id]);
      else having.push(node.id);
    }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
}

const nameOf = (node: ClusterNode): string => node.name ?? node.hostname ?? `node-${node.id}`;

const SHOWN = 10;
function nodesText(ids: readonly number[]): string {
  const more = ids.length - SHOWN;
  return `node${ids.length === 1 ? '' : 's'} ${ids.slice(0, SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const capital = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`;
