import type { Random } from '@sitewright/temporal-simulator';
import { successesNeeded } from '../../../src/core/deployment/criteria.ts';
import { selectNodes } from '../../../src/core/deployment/selectors.ts';
import type { DeploymentStrategy, Group } from '../../../src/core/deployment/strategy.ts';
import { isError } from '../../../src/core/problems/diagnostic.ts';
import { loadSite } from '../../../src/documents/index.ts';
import { CALM, type Weather } from '../../../worker/parts/rehearsals/world.ts';

/** One site as a seed wants it: its documents, its machines, and how rough its world is. */
export interface SiteSeed {
  readonly nodes: readonly { readonly name: string; readonly tags: readonly string[]; readonly rack: string }[];
  readonly strategy: DeploymentStrategy;
  readonly parallel: number;
  readonly deployTimeout: number;
  readonly weather: Weather;
  readonly automation: Readonly<Record<string, unknown>>;
  /** Machines that are not Ready at first, by name. */
  readonly states: Readonly<Record<string, string>>;
  /** Whose deployments fail at first. */
  readonly failing: readonly string[];
  /** Kills, stalls, outages in the time of faults. */
  readonly disasters: number;
  readonly people: number;
  readonly runs: number;
  readonly hours: number;
}

const GROUPS = ['control', 'workers', 'storage', 'rest'];

/**
 * @param hasRollouts whether groups may go by waves
 * @param hasChecks whether these may ask checks
 */
export function siteSeed(random: Random, hasRollouts: boolean, hasChecks: boolean): SiteSeed {
  const asking = random.fork('checks');
  const waves = random.fork('waves');
  const count = random.int(1, 6) + (hasRollouts ? waves.int(0, 4) : 0) + (hasChecks ? asking.int(1, 3) : 0);
  const used = GROUPS.slice(0, random.int(1, Math.min(4, count)));
  const nodes = Array.from({ length: count }, (_, at) => ({
    name: `n${at + 1}`,
    tags: [used[at % used.length]!],
    rack: `rack${random.int(1, 2)}`,
  }));
  const rough = random.chance(0.7);
  const rare = (most: number): number => (rough && random.chance(0.6) ? random.next() * most : 0);
  const groups = used.map((name, at) => {
    const criteria = random.weighed<object | undefined>([
      [3, undefined],
      [2, { percent_successful_nodes: random.pick([50, 100]) }],
      [1, { minimum_successful_nodes: 1 }],
      [1, { maximum_failed_nodes: random.int(0, 1) }],
    ]);
    return {
      name,
      critical: random.chance(0.4),
      depends_on: used.slice(0, at).filter(() => random.chance(0.4)),
      selectors: [random.chance(0.1) ? { rack_names: ['rack1'] } : { node_tags: [name] }],
      ...(criteria === undefined ? {} : { success_criteria: criteria }),
      ...(hasRollouts && (waves.chance(0.6) || hasChecks)
        ? { rollout: { ...rolloutFrom(waves), ...(hasChecks ? checksFrom(asking) : {}) } }
        : {}),
    };
  });
  const often = random.pick([0.05, 0.12, 0.5]);
  const failing = nodes.filter(() => random.chance(often)).map(({ name }) => name);
  const isNew = random.pick([0.1, 0.25, 0.6]);
  const states = Object.fromEntries(
    nodes.flatMap(({ name }) =>
      random.chance(isNew) ? [[name, random.pick(['new', 'failed_commissioning', 'failed_deployment', 'broken'])]] : [],
    ),
  );
  return {
    nodes,
    strategy: { groups },
    parallel: random.pick([1, 2, 4, 8]),
    deployTimeout: random.pick([300, 900, 3600]),
    weather: {
      ...CALM,
      turnLost: rare(0.08),
      cacheLost: rare(0.2),
      turnLate: rare(0.05),
      storeFails: rare(0.03),
      storeLosesAnswers: rare(0.02),
      maasFails: rare(0.05),
      maasLosesAnswers: rare(0.05),
      maasLate: rare(0.1),
      temporalFails: rare(0.03),
    },
    automation: {
      commission_ms: random.int(60, 500) * 1000,
      deploy_ms: random.int(120, random.chance(0.1) ? 5_000 : 900) * 1000,
      erase_ms: random.int(10, 200) * 1000,
      release_ms: random.int(5, 90) * 1000,
      test_ms: 60_000,
      jitter: random.next() * 0.5,
      fail_times: {
        deploy: Object.fromEntries(failing.map((name) => [name, random.int(1, 3)])),
        commission: Object.fromEntries(
          nodes.filter(() => random.chance(often)).map(({ name }) => [name, random.int(1, 2)]),
        ),
      },
      discover: true,
    },
    states,
    failing,
    disasters: rough ? random.int(0, 6) : 0,
    people: random.chance(0.8) ? random.int(0, random.pick([6, 11, 18])) : 0,
    runs: random.int(1, 3),
    hours: random.int(1, 8),
  };
}

const GROWTHS = ['double', 'all', { by: 1 }, { add: 1 }] as const;

export const rolloutFrom = (random: Random): NonNullable<Group['rollout']> => ({
  first: random.pick([1, 1, 2, '50%']),
  ...random.pick(GROWTHS.map((then) => ({ then }))),
  ...(random.chance(0.5) && { soak: random.pick(['30s', '5m', '20m']) }),
  ...random.pick([{}, { stop_at: { failed: random.int(1, 3) } }, { stop_at: { percent: random.pick([10, 50, 100]) } }]),
  ...(random.chance(0.3) && { order: random.pick([['rack', 'name'], ['spread'], ['name']] as const) }),
});

/** In runs of graphs. */
export const nodeChecksFrom = (random: Random): Pick<NonNullable<Group['rollout']>, 'checks'> =>
  random.pick([
    { checks: ['disk'] },
    { checks: ['ssh'] },
    { checks: ['disk', 'ssh'] },
    { checks: ['gateway', 'disk'] },
  ]);

const checksFrom = (random: Random): Pick<NonNullable<Group['rollout']>, 'checks'> =>
  random.pick([{ checks: ['gateway'] }, { checks: ['metrics'] }, { checks: ['gateway', 'metrics'] }]);

/** `gateway` is asked once, at a host of its name; `metrics` of each node. Nodes ask `disk` about themselves, and `ssh` about a neighbour. */
const CHECKS = {
  gateway: { tcp: { host: 'gateway', port: 443 }, within: '30s', failures: 2 },
  disk: { command: { cmd: 'test-disk' }, every: '10s', failures: 2 },
  ssh: { from: 'neighbour', tcp: { host: { yaql_exp: '$.node.name' }, port: 22 }, every: '10s', failures: 2 },
  metrics: { http: { url: { yaql_exp: "'http://' + $.node.name + ':9100/metrics'" } }, every: '10s', failures: 3 },
};

/**
 * A revision of a site, from documents in the form in which users write them.
 *
 * @param limits what limits its changes
 * @param more names of checks that its groups do not ask
 */
export function revisionOf(
  { strategy, parallel, deployTimeout }: Pick<SiteSeed, 'strategy' | 'parallel' | 'deployTimeout'>,
  nodes: SiteSeed['nodes'],
  limits?: object,
  more: readonly string[] = [],
) {
  const document = (schema: string, name: string, data: object): string =>
    JSON.stringify({ schema, metadata: { name }, data });
  // Documents with a critical group that can never succeed are refused; who writes them makes it uncritical.
  const members = nodes.map(({ name, tags, rack }) => ({ name, tags, rack, labels: {} }));
  const accepted = (group: Group): Group => {
    const isMet = successesNeeded(group.success_criteria, selectNodes(group.selectors, members).length) !== null;
    return isMet ? group : { ...group, critical: false };
  };
  const files = [
    {
      name: 'site.yaml',
      text: [
        document('shipyard/DeploymentConfiguration/v1', 'deployment-configuration', {
          physical_provisioner: {
            deployment_strategy: 'deployment-strategy',
            deploy_timeout: deployTimeout,
            max_parallel_nodes: parallel,
          },
          armada: { manifest: 'full-site' },
        }),
        document('shipyard/DeploymentStrategy/v1', 'deployment-strategy', { groups: strategy.groups.map(accepted) }),
        ...Object.entries(CHECKS)
          .filter(([name]) =>
            [...strategy.groups.flatMap(({ rollout }) => rollout?.checks ?? []), ...more].includes(name),
          )
          .map(([name, check]) => document('sitewright/Check/v1', name, check)),
        ...(limits ? [document('sitewright/Limits/v1', 'limits', limits)] : []),
        ...nodes.map(({ name, tags, rack }) =>
          document('drydock/BaremetalNode/v1', name, { metadata: { tags, rack } }),
        ),
      ].join('\n---\n'),
    },
  ];
  const { site, diagnostics } = loadSite(files);
  if (site === undefined || site === null)
    throw new Error(`the documents of the seed are wrong: ${diagnostics.find(isError)?.message}`);
  return { files, resolved: site };
}
