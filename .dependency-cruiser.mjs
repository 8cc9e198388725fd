// The architecture as forbidden arrows (docs/architecture.md). Each comment says what it means
// when the rule fires and what to do.
/**
 * @param {string} name
 * @param {string} comment
 * @param {import('dependency-cruiser').IRegularForbiddenRuleType['from']} from
 * @param {import('dependency-cruiser').IRegularForbiddenRuleType['to']} to
 * @returns {import('dependency-cruiser').IForbiddenRuleType}
 */
const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

export default {
  forbidden: [
    rule(
      'core-is-pure',
      'src/core runs inside workflows, browsers and tests alike: it imports nothing but itself. Move the code that needs a package or a Node built-in to the folder that owns that concern.',
      { path: '^src/core/' },
      { pathNot: '^src/core/' },
    ),
    rule(
      'yaql-is-pure',
      'src/yaql is a library of its own, usable in a workflow and in a browser: it imports nothing but itself.',
      { path: '^src/yaql/' },
      { pathNot: '^src/yaql/' },
    ),
    rule(
      'workflows-are-deterministic',
      'Each import of a workflow becomes part of every replay. Allowed: src/core, src/yaql, @temporalio/workflow and @temporalio/common, other workflow files. Put I/O into an activity and decisions into src/core.',
      { path: '^workflows/' },
      {
        pathNot: ['^workflows/', '^src/core/', '^src/yaql/', 'node_modules/@temporalio/(workflow|common)/'],
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'workflows-see-types-only',
      'A workflow may know the types of activities (activities/contract.ts) and nothing else outside.',
      { path: '^workflows/' },
      {
        pathNot: [
          '^workflows/',
          '^src/core/',
          '^src/yaql/',
          '^activities/(graph-)?contract',
          'node_modules/@temporalio/',
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
      'pure-planning',
      'graph, documents and packages are data in, data out: they may import core, yaql and each other, no I/O clients, stores or shells.',
      { path: '^src/(graph|documents|packages)/' },
      {
        path: [
          '^src/(store|maas|agent|ops|api|cli|ui|telemetry|config)/',
          '^(workflows|activities|worker)/',
          'node_modules/@temporalio/',
        ],
      },
    ),
    rule(
      'clusters-are-data',
      'src/clusters turns rows into plans: it imports core, yaql, graph and documents, and of the store the types of its ports only. Hand a port in; let an activity or a use case call it.',
      { path: '^src/clusters/' },
      {
        path: [
          '^src/(maas|agent|identity|ops|api|cli|ui|telemetry|config|packages|store/(?!index|ports/))',
          '^(workflows|activities|worker)/',
          'node_modules/@temporalio/',
        ],
      },
    ),
    rule(
      'clusters-see-types-of-ports-only',
      'src/clusters may know what a store answers, not open one.',
      { path: '^src/clusters/' },
      { path: '^src/store/', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'planning-is-a-computation',
      'src/planning turns data into plans, in a thread beside whoever asks: it reads and writes nothing, and of the store it knows types. Read first, hand in; store what comes back.',
      { path: '^src/planning/' },
      {
        path: [
          '^src/(maas|identity|ops|api|cli|ui|telemetry|config|packages|gateway|temporal|store/(?!index|ports/))',
          '^workflows/(?!protocol)',
          '^(activities|worker)/',
          'node_modules/@temporalio/',
        ],
      },
    ),
    rule(
      'planning-sees-types-of-ports-only',
      'src/planning may know what a store keeps, not open one.',
      { path: '^src/planning/' },
      { path: '^src/store/', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'pictures-know-no-domain',
      'src/pictures turns drawings (DOT) into pictures: it imports the layout library and nothing of ours.',
      { path: '^src/pictures/' },
      { path: '^(src/(?!pictures/)|(workflows|activities|worker)/)' },
    ),
    rule(
      'activities-are-verbs',
      'An activity calls a client or a port and translates the answer. It imports no workflow code and no shell. The wire names in workflows/protocol.ts are the exception.',
      { path: '^activities/' },
      { path: ['^workflows/(?!protocol)', '^src/(api|cli|ui|ops)/'] },
    ),
    rule(
      'clients-know-nothing-above-them',
      'store and maas are below everything else; a client that needs its caller has the arrow the wrong way round.',
      { path: '^src/(store|maas)/' },
      { path: ['^src/(ops|api|cli|ui|graph|packages|agent)/', '^(workflows|activities|worker)/'] },
    ),
    rule(
      'ground-floor',
      'config and temporal (finding, starting, asking a server) serve everything above them: they know documents, the scripts and the wire names, no use case and no shell.',
      { path: '^src/(config|temporal)/' },
      {
        path: [
          '^src/(ops|api|cli|ui|store|maas|agent|graph|packages)/',
          '^workflows/(?!protocol)',
          '^(activities|worker)/',
        ],
      },
    ),
    rule(
      'ops-is-not-a-shell',
      'A use case must not know how it is shown.',
      { path: '^src/ops/' },
      { path: ['^src/(api|cli|ui)/', '^activities/(?!(graph-)?contract)'] },
    ),
    rule(
      'shells-are-thin',
      'The API goes through src/ops; it touches neither store nor Temporal itself.',
      { path: '^src/api/' },
      { path: ['^src/(maas|cli)/', '^(activities|worker)/', 'node_modules/@temporalio/'] },
    ),
    rule(
      'cli-talks-http',
      'The CLI is a client of the REST API (offline commands call pure code); it may know the types of its answers. Composition commands (up, api, worker, maas simulate, doctor) load what they start lazily through src/cli/processes.',
      { path: '^src/cli/', pathNot: '^src/cli/processes/' },
      {
        path: ['^src/(store|ops|api)/', '^(activities|worker)/', 'node_modules/@temporalio/'],
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'identity-is-small',
      'src/identity decides who is believed: it knows what an execution is (src/agent) and nothing else of ours, so that it can be read as a whole.',
      { path: '^src/identity/' },
      { path: '^(src/(?!identity/|agent/)|workflows|activities|worker)' },
    ),
    rule(
      'secrets-know-nobody',
      'A store of secrets answers one question. Whoever asks must be judged before it is asked, elsewhere.',
      { path: '^src/secrets/' },
      { path: '^(src/(?!secrets/)|workflows|activities|worker)' },
    ),
    rule(
      'gateway-through-ports',
      'The gateway hands out what ports give it: it may use the agent’s types, identity, secrets, the store’s ports and the log. Plans, runs and settings come from worker/.',
      { path: '^src/gateway/' },
      { path: '^(src/(?!gateway/|agent/|identity/|secrets/|store/|telemetry/)|workflows|activities|worker)' },
    ),
    rule(
      'codec-knows-keys-only',
      'The codec sees every payload: it knows its key file and nothing else of ours.',
      { path: '^src/codec/' },
      { path: '^(src/(?!codec/|identity/)|workflows|activities|worker)' },
    ),
    rule(
      'onboarding-is-no-shell',
      'src/onboarding makes what a machine needs to become a node; how it is asked for (CLI, deploy) is above it.',
      { path: '^src/onboarding/' },
      { path: '^(src/(api|cli|ui|ops|maas|graph|clusters|packages)/|workflows|activities|worker)' },
    ),
    rule(
      'agent-knows-no-service',
      'src/agent runs tasks on a node. Where orders come from and who is believed is behind its port OrderSource.',
      { path: '^src/agent/' },
      {
        path: '^(src/(gateway|identity|secrets|onboarding|codec|store|ops|api|cli|ui|maas)/|workflows|activities|worker)',
      },
    ),
    rule(
      'no-cycles',
      'Two files that need each other are one concept or need a third file.',
      {},
      { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
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
