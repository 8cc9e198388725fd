import { readdirSync, readFileSync } from 'node:fs';

// The architecture as forbidden arrows (docs/explain/architecture.md). Each comment says what it means
// when the rule fires and what to do.
/**
 * @param {string} name
 * @param {string} comment
 * @param {import('dependency-cruiser').IRegularForbiddenRuleType['from']} from
 * @param {import('dependency-cruiser').IRegularForbiddenRuleType['to']} to
 * @returns {import('dependency-cruiser').IForbiddenRuleType}
 */
const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

/** Stand by themselves, as packages do. */
export const PACKAGES = readdirSync(new URL('packages/', import.meta.url));

/**
 * The packages, and the folders of src, in the order in which data goes through them, each with the earlier folders it may import. A folder can
 * only name folders before it, so circles between folders cannot be written down.
 * @type {readonly (readonly [folder: string, mayImport: readonly string[], meaning: string])[]}
 */
export const FOLDERS = [
  ['yaql', [], 'is a library of its own, usable in a workflow and in a browser.'],
  ['maas', [], 'is a client: one that needs its caller has the arrow the wrong way round.'],
  ['maas-simulator', ['maas'], 'stands in for a MAAS: it knows the words of the client and nothing else.'],
  ['temporal-simulator', [], 'stands in for Temporal: it knows its SDK and nothing of ours.'],
  [
    'core',
    [],
    'runs inside workflows, browsers and tests alike. Move the code that needs a package or a Node built-in to the folder that owns that concern.',
  ],
  ['documents', ['core', 'yaql', 'maas'], 'is data in, data out: what users write, read with positions and checked.'],
  ['packages', ['core', 'yaql', 'documents'], 'is data in, data out: releases and plugins.'],
  [
    'graph',
    ['core', 'yaql', 'documents', 'packages'],
    'is data in, data out: graphs merged, placed, evaluated, linked.',
  ],
  [
    'store',
    ['core', 'maas', 'documents'],
    'keeps what it is given: one that needs its caller has the arrow the wrong way round.',
  ],
  [
    'platform',
    ['core', 'documents', 'maas', 'store'],
    'serves every process: settings, telemetry, secrets, the codec, finding Temporal. It knows no run and no use case.',
  ],
  [
    'runs',
    ['core', 'store', 'platform'],
    'is the life of a run, for every process that has to do with one: it knows no use case and no activity.',
  ],
  [
    'agent',
    ['core', 'documents', 'platform', 'maas'],
    'runs tasks on a node. Where orders come from and who is trusted is behind its port OrderSource.',
  ],
  [
    'clusters',
    ['core', 'yaql', 'maas', 'documents', 'packages', 'graph', 'agent', 'store', 'platform'],
    'turns rows into plans: it reads and writes nothing. Read first, pass the rows in, store what comes back.',
  ],
  [
    'gateway',
    ['core', 'documents', 'agent', 'platform', 'store'],
    'serves what its ports give it. Plans, runs and settings come from worker/.',
  ],
  [
    'ops',
    ['core', 'yaql', 'documents', 'packages', 'graph', 'maas', 'store', 'platform', 'runs', 'agent', 'clusters'],
    'holds the use cases: a use case must not know how it is shown.',
  ],
  [
    'api',
    ['core', 'documents', 'graph', 'store', 'platform', 'agent', 'ops'],
    'is thin: it goes through src/ops and touches neither the store nor Temporal itself.',
  ],
  [
    'cli',
    [
      'core',
      'yaql',
      'documents',
      'packages',
      'graph',
      'maas',
      'maas-simulator',
      'store',
      'platform',
      'agent',
      'clusters',
      'gateway',
      'ops',
      'api',
    ],
    'is a client of the REST API; offline commands call pure code.',
  ],
  ['ui', ['core'], 'runs in browsers: it reaches the service through the REST API alone.'],
];

/** @param {string} name of a package or a folder of src */
const placeOf = (name) => (PACKAGES.includes(name) ? `packages/${name}/src` : `src/${name}`);

/** The files that the packages export. @type {readonly string[]} */
const DOORS = PACKAGES.flatMap((name) => {
  const { exports } = JSON.parse(readFileSync(new URL(`packages/${name}/package.json`, import.meta.url), 'utf8'));
  return Object.values(exports).map((file) => `packages/${name}/${file.slice(2)}`);
});

const folderRules = FOLDERS.map(([folder, mayImport, meaning]) =>
  rule(
    `folder-${folder}`,
    `${placeOf(folder)} ${meaning} Of src and packages it may import: ${[...mayImport, 'itself'].join(', ')}.`,
    { path: `^${placeOf(folder)}/` },
    { path: '^(src|packages)/', pathNot: `^(${[folder, ...mayImport].map(placeOf).join('|')})/` },
  ),
);

export default {
  forbidden: [
    ...folderRules,
    rule(
      'packages-stand-alone',
      'A package, with its tests, knows nothing of the program that uses it.',
      { path: '^packages/' },
      { path: '^(src|workflows|activities|worker|test|bench|scripts)/' },
    ),
    rule(
      'packages-have-doors',
      'What a package does not export is its own. Import it by its name.',
      { path: '^(src|workflows|activities|worker)/' },
      { path: '^packages/', pathNot: `^(${DOORS.map((file) => file.replaceAll('.', '\\.')).join('|')})$` },
    ),
    rule(
      'the-simulator-is-for-trials',
      'No process of an installation loads the simulator: commands for trials do, when they are called.',
      {
        path: '^(src|workflows|activities|worker)/',
        pathNot: '^worker/((maas-simulate|up|demo-system|parts/(maas|site)-seed)\\.ts$|parts/rehearsals/)',
      },
      { path: '^packages/maas-simulator/' },
    ),
    rule(
      'the-simulation-is-for-rehearsals',
      'It takes over the clock and the chance of what loads it: only a thread of its own does, for a rehearsal.',
      { path: '^(src|workflows|activities|worker)/', pathNot: '^worker/parts/rehearsals/' },
      {
        path: '^(packages/temporal-simulator/|worker/parts/rehearsals/(?!rehearser))',
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'core-is-pure',
      'src/core runs inside workflows, browsers and tests alike: it imports nothing but itself, and zod/mini for its schemas. Move the code that needs a package or a Node built-in to the folder that owns that concern.',
      { path: '^src/core/', pathNot: '^src/core/contracts/' },
      { pathNot: ['^src/core/', 'node_modules/zod/mini/'] },
    ),
    rule(
      'contracts-are-schemas',
      'src/core/contracts declares what crosses borders, as zod schemas: it needs zod and the words of src/core.',
      { path: '^src/core/contracts/' },
      { pathNot: ['^src/core/', 'node_modules/zod/'] },
    ),
    rule(
      'no-schemas-in-workflows',
      'The schemas of the API and the whole of zod do not belong into the workflow bundle: workflows and the rest of src/core have theirs of zod/mini, and take types from src/core/contracts (`import type`).',
      { path: ['^workflows/', '^src/core/(?!contracts/)'] },
      { path: '^src/core/contracts/', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'the-page-loads-no-schema',
      'The page takes types from src/core/contracts (`import type`): zod would be half of its script.',
      { path: '^src/ui/' },
      { path: '^src/core/contracts/', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'yaql-is-pure',
      'packages/yaql is a library of its own, usable in a workflow and in a browser: it imports nothing but itself.',
      { path: '^packages/yaql/src/' },
      { pathNot: '^packages/yaql/src/' },
    ),
    rule(
      'workflows-are-deterministic',
      'Each import of a workflow becomes part of every replay. Allowed: src/core, the contracts of activities, zod/mini, @temporalio/workflow and @temporalio/common, other workflow files. Put I/O into an activity and decisions into src/core.',
      { path: '^workflows/' },
      {
        pathNot: [
          ...['^workflows/', '^src/core/', '^activities/(graph-|notice-)?contract'],
          ...['node_modules/zod/mini/', 'node_modules/@temporalio/(workflow|common)/'],
        ],
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'workflows-see-types-only',
      'A workflow may know the contracts of activities (activities/contract.ts) and nothing else outside.',
      { path: '^workflows/' },
      {
        pathNot: [
          ...['^workflows/', '^src/core/', '^activities/(graph-|notice-)?contract'],
          ...['node_modules/zod/mini/', 'node_modules/@temporalio/'],
        ],
      },
    ),
    rule(
      'only-planning-uses-graphology',
      'graphology is for src/graph; it cannot be bundled into a workflow. Hand plain data over.',
      { pathNot: '^src/graph/' },
      { path: 'node_modules/graphology' },
    ),
    rule(
      'folders-below-the-shells',
      'Only the command line starts processes, and only use cases and planning know the wire names: no other folder imports workflows, activities or worker.',
      { path: '^src/', pathNot: '^src/(cli|ops)/' },
      { path: '^(workflows/(?!protocol)|activities|worker)/' },
    ),
    rule(
      'planning-knows-no-temporal',
      'graph, documents, packages and clusters are data in, data out: no Temporal, no client.',
      { path: '^src/(graph|documents|packages|clusters)/' },
      { path: 'node_modules/@temporalio/' },
    ),
    rule(
      'the-store-reads-no-documents',
      'The store keeps a resolved site: it may know its type, not resolve one.',
      { path: '^src/store/' },
      { path: '^src/documents/', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'types-of-ports-only',
      'src/clusters may know what a store answers, not open one.',
      { path: '^src/clusters/' },
      { path: '^src/store/', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'scripts-serve-developers',
      'An installation has no scripts: what it runs lives in src, workflows, activities or worker.',
      { path: '^(src|workflows|activities|worker)/' },
      { path: '^scripts/' },
    ),
    rule(
      'planning-takes-a-thread-only',
      'src/clusters plans beside the process that asks, in a thread of src/platform/threads, with functions of the user. Settings, secrets and the rest of the platform come as data.',
      { path: '^src/clusters/' },
      { path: '^src/platform/(?!threads/|user-module)' },
    ),
    rule(
      'threads-are-a-leaf',
      'src/platform/threads starts programs and carries messages. What a program does is written beside the one who asks.',
      { path: '^src/platform/threads/' },
      { path: '^(src/(?!platform/(threads/|installation))|(workflows|activities|worker)/)' },
    ),
    rule(
      'platform-sees-types-of-clients-only',
      'Metrics count what MAAS and the store report; settings and logs never call either.',
      { path: '^src/platform/' },
      { path: '^(packages/maas|src/store)/', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'only-the-master-calls-maas',
      'What a node cannot do to itself is done through MAAS by src/agent/master, in the worker. The rest of src/agent runs on nodes and reaches no service.',
      { path: '^src/agent/', pathNot: '^src/agent/master/' },
      { path: '^packages/maas/' },
    ),
    rule(
      'pictures-know-no-domain',
      'src/graph/pictures turns drawings (DOT) into pictures: it imports the layout library and nothing of ours.',
      { path: '^src/graph/pictures/' },
      { path: '^(src/(?!graph/pictures/)|(workflows|activities|worker)/)' },
    ),
    rule(
      'activities-are-verbs',
      'An activity calls a client or a port and translates the answer. It imports no workflow code and no shell. The wire names in workflows/protocol.ts are the exception.',
      { path: '^activities/' },
      { path: ['^workflows/(?!protocol)', '^src/(api|cli|ui|ops)/'] },
    ),
    rule(
      'ops-calls-no-activity',
      'Use cases start workflows; they know the types of what activities answer, never an activity.',
      { path: '^src/ops/' },
      { path: ['^activities/(?!(graph-|notice-)?contract)', '^workflows/(?!protocol|contract)', '^worker/'] },
    ),
    rule(
      'api-is-thin',
      'The API goes through src/ops; it touches neither the store nor Temporal itself.',
      { path: '^src/api/' },
      { path: ['node_modules/@temporalio/'] },
    ),
    rule(
      'cli-talks-http',
      'The CLI is a client of the REST API (offline commands call pure code, such as src/ops/strategy.ts); it may know the types of its answers.',
      { path: '^src/cli/' },
      {
        path: ['^src/(store/|ops/(?!strategy\\.ts$)|api/)', '^activities/', 'node_modules/@temporalio/'],
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'processes-load-when-started',
      'A command loads what it starts when it starts it: import the process with `await import`. What its parts are is for worker/ alone.',
      { path: '^src/cli/' },
      { path: '^worker/', dependencyTypesNot: ['type-only', 'dynamic-import'] },
    ),
    rule(
      'processes-know-the-terminal',
      'worker/ has one file a process, and what several share in worker/parts. A process knows the terminal it was started in, never a command.',
      { path: '^worker/' },
      {
        path: '^src/cli/',
        pathNot: '^src/cli/(shell/(terminal|problem|exit-codes|client)|views/(paint|report))\\.ts$',
      },
    ),
    rule(
      'parts-start-nothing',
      'Parts serve the processes of worker/: one that needs a process is a process.',
      { path: '^worker/parts/' },
      { path: '^worker/(?!parts/)' },
    ),
    rule(
      'identity-is-small',
      'src/gateway/identity decides who is trusted: it knows what an execution is (src/agent, src/core/task-on-node.ts) and private files, so that it can be read as a whole.',
      { path: '^src/gateway/identity/' },
      { path: '^(src/(?!gateway/identity/|agent/|core/task-on-node|platform/files/)|workflows|activities|worker)' },
    ),
    rule(
      'secrets-are-a-leaf',
      'A source of secrets answers one question. Who may ask is decided before it is asked, elsewhere.',
      { path: '^src/platform/secrets/' },
      { path: '^(src/(?!platform/secrets/)|workflows|activities|worker)' },
    ),
    rule(
      'codec-knows-keys-only',
      'The codec sees every payload: it knows its key file and nothing else of ours.',
      { path: '^src/platform/codec/' },
      { path: '^(src/(?!platform/(codec|files|threads)/)|workflows|activities|worker)' },
    ),
    rule(
      'no-cycles',
      'Two files that need each other, if only for a type, are one concept or need a third file.',
      {},
      { circular: true },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
