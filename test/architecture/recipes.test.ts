/* biome-ignore-all lint/suspicious/noTemplateCurlyInString: planted code has template strings */
import { tmpdir } from 'node:os';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunProgress } from '../../src/core/site-run/index.js';
import { migrations } from '../../src/store/migrations/index.js';
import { behind, both, type Plant, withPlanted } from '../rig/plant.js';

/** The number of the next migration. */
const version = migrations.length + 1;

/** The recipes of CONTRIBUTING's "How to add", each carried out with an example. */
const RECIPES = {
  taskType: {
    'src/core/task-types/scripts.ts': (text) => `${text}
export const greet = taskType('greet', {
  over: ['agent'],
  does: 'Says hello.',
  parameters: {},
  examples: [{ parameters: {}, result: { outcome: 'ok' } }],
});
`,
    'src/agent/task-types/greet.ts': `import { greet as type } from '../../core/task-types/scripts.js';
import { runner } from '../task-runner.js';

export const greet = runner(type, {
  run: async (_, context) => {
  context.print('hello');
  return { failure: null, changed: false };
  },
});
`,
    'src/agent/task-registry.ts': both(
      behind(
        "import { copyFiles } from './task-types/copy-files.js';\n",
        "import { greet } from './task-types/greet.js';\n",
      ),
      behind('const runners: readonly TaskRunner[] = [', '\n  greet,'),
    ),
  },
  update: {
    'src/core/words.ts': behind("SITE_RUN_ACTIONS = [...RUN_ACTIONS, 'retry_node'", ", 'note_node'"),
    'workflows/contract.ts': behind(
      'readonly retry_node: RetryNodeRequest;',
      '\n    readonly note_node: RetryNodeRequest;',
    ),
    'workflows/site-operators.ts': behind(
      'updates: {\n      ...steering.updates,',
      `
    note_node: {
      description: 'Notes something of a node.',
      read: (payload) => readRequest(retryNode, payload),
      handle(request) {
        progress.operator.push({ action: 'note_node', at: isoTime(0), ...request });
        return status();
      },
    },`,
    ),
    'src/core/contracts/run.ts': behind(
      "  'POST /runs/:run/nodes/:node/retry': {\n    ...steer,\n    id: 'retryNode',\n    summary: 'Try a failed node of a run again',\n    params: runNodeParams,\n    answers: steered,\n  },\n",
      "  'POST /runs/:run/nodes/:node/note': { ...steer, id: 'noteNode', summary: 'Note', params: runNodeParams, answers: steered },\n",
    ),
    'src/api/routes/runs.ts': behind(
      "runs.update(request.params.run, 'retry_node', { node: request.params.node, ...operatorOf(request) }),",
      `
  'POST /runs/:run/nodes/:node/note': (request) =>
    runs.update(request.params.run, 'note_node', { node: request.params.node, ...operatorOf(request) }),`,
    ),
    'src/cli/commands/run.ts': behind(
      /const group = program\.verb\('run', .*\);\n/,
      `  group
  .verb('note', 'Note something of a node of a run')
  .argument('<run>', RUN)
  .argument('<node>', 'name of the node')
  .action(async (run: string, node: string) => {
    const client = await session.client();
    await client.call('POST /runs/:run/nodes/:node/note', { params: { run, node }, body: {} });
  });
`,
    ),
  },
  reportField: {
    'src/core/contracts/site-run-report.ts': behind(
      '    removed_nodes: texts.optional(),\n',
      '    mood: z.string().optional(),\n',
    ),
    'src/core/site-run/progress.ts': behind('    operator: progress.operator,\n', "    mood: 'calm',\n"),
    'src/cli/views/report.ts': behind(
      '    phasesOf(report, paint),\n',
      '    report.mood === undefined ? [] : [`Mood: ${report.mood}`],\n',
    ),
    'src/ui/assets/views/site-run.js': behind('<${Phases} phases=${data.phases} />', '<p>${data.mood}</p>'),
  },
  nodeField: {
    [`src/store/migrations/${version}-asset-tags.ts`]: `import type { Migration } from './migration.js';

export const assetTags: Migration = {
  version: ${version},
  name: 'asset-tags',
  breaking: false,
  async up(db, { text }) {
  await db.schema.alterTable('node').addColumn('asset_tag', text).execute();
  },
};
`,
    'src/store/migrations/index.ts': (text) =>
      `import { assetTags } from './${version}-asset-tags.js';\n${text.replace(/\n\];/, '\n  assetTags,\n];')}`,
    'src/store/tables/cluster-tables.ts': behind(
      '    osPlatform: text().nullable(),\n',
      '    assetTag: text().nullable(),\n',
    ),
    'src/core/contracts/fuel/nodes.ts': both(
      behind('  hostname,\n  mac,\n', '  asset_tag: z.string().nullable(),\n'),
      behind(
        "    fqdn: z.string().nullable(),\n    site: z.string().nullable().describe('Site whose machine it is.'),\n",
        '    asset_tag: z.string().nullable(),\n',
      ),
    ),
  },
  command: {
    'src/cli/commands/greet.ts': `import type { CliCommand } from '../command.js';
import type { Session } from '../session.js';

export function registerGreet(program: CliCommand, { terminal }: Session): void {
  program.verb('greet', 'Says hello').action(() => terminal.out('hello\\n'));
}
`,
    'src/cli/program.ts': behind(
      "    { names: ['db'], load: async () => (await import('./commands/db.js')).registerDb },\n",
      "    { names: ['greet'], load: async () => (await import('./commands/greet.js')).registerGreet },\n",
    ),
  },
  setting: {
    'src/platform/settings/temporal-settings.ts': behind(
      "  namespace: text.default('default').describe('Temporal namespace of all runs.'),\n",
      "  colour: text.default('blue').describe('Its colour.'),\n",
    ),
  },
} satisfies Record<string, Plant>;

/** Handlers are observed instead of set: there is no workflow here. */
const OBSERVED: Plant = {
  'workflows/border.ts': behind(
    'const { signals, updates, queries, warn }: AnyHandlers = handlers;',
    '\n  if (warn !== undefined) return Object.assign(warn, { handlers });',
  ),
};

const ENTRY = `
export { TASK_TYPE_NAMES } from './src/core/task-types/index.js';
export { checkTaskList } from './src/ops/graphs/graph-upload.js';
export { findRunner } from './src/agent/task-registry.js';
export { taskTypesPage } from './src/agent/task-types-page.js';
export { UPDATES } from './workflows/protocol.js';
export { handleSiteOperators } from './workflows/site-operators.js';
export { runReportSchema } from './src/core/contracts/site-run-report.js';
export { reportRun } from './src/core/site-run/index.js';
export { reportText } from './src/cli/views/report.js';
export { runCli } from './src/cli/run-cli.js';
export { loadSettings } from './src/platform/settings/load-settings.js';
import { createOperations } from './src/ops/index.js';
import { apiAlone, apiOf } from './test/api/api-rig.js';
export { apiAlone };
export const apiWith = (update) => {
  const operations = createOperations({ store: {}, temporal: {}, maas: () => undefined });
  return apiOf({ ...operations, runs: { ...operations.runs, update } }, {}, async () => undefined, { checkAnswer: undefined });
};`;

const startedRun: RunProgress = {
  ...{ kind: 'deploy_site', input: { site: 'dc1' }, workflow_id: 'w', run_id: 'r', started_at: 0 },
  ...{ paused: null, stopping: false, holds: [], phases: [], operator: [], warnings: [] },
};

/** Each recipe of CONTRIBUTING's "How to add", carried out in a copy in memory: its files are enough, and no more than these. */
describe('how to add', () => {
  let planted: Awaited<ReturnType<typeof withPlanted>>;
  beforeAll(async () => {
    planted = await withPlanted(Object.assign({}, OBSERVED, ...Object.values(RECIPES)), ENTRY);
  });

  /** What the command line prints. */
  async function printed(...args: readonly string[]): Promise<string> {
    const out: string[] = [];
    const terminal = { out: (text: string) => out.push(text), err: () => undefined, color: false };
    expect(await planted.runCli(args, terminal)).toBe(0);
    return out.join('');
  }

  it('a task type: three files', async () => {
    expect(Object.keys(RECIPES.taskType)).toHaveLength(3);
    const { TASK_TYPE_NAMES, checkTaskList, findRunner, taskTypesPage } = planted;
    expect(TASK_TYPE_NAMES).toContain('greet');
    expect(checkTaskList([{ id: 'a', type: 'greet', version: '2.1.0', tags: ['x'] }]).problems).toEqual([]);
    expect(taskTypesPage()).toContain('## greet\n\nSays hello.');
    const said: string[] = [];
    const context = { print: (line: string) => said.push(line) };
    expect(await findRunner('greet').read({}, {}).run(context)).toEqual({ failure: null, changed: false });
    expect(said).toEqual(['hello']);
  });

  it('an operator’s update: six files', async () => {
    expect(Object.keys(RECIPES.update)).toHaveLength(6);
    const { UPDATES, handleSiteOperators, apiWith } = planted;
    expect(UPDATES).toContain('note_node');

    const warn = Object.assign(() => undefined, { handlers: { updates: {} as Record<string, Handler> } });
    const operator: unknown[] = [];
    const progress = { ...startedRun, operator };
    handleSiteOperators({ progress, control: {}, slices: {}, warn });
    const { read, handle } = warn.handlers.updates.note_node!;
    expect(handle(read({ node: 'n1', by: 'ann' }).request)).toMatchObject({ site: 'dc1' });
    expect(operator).toEqual([{ action: 'note_node', at: '1970-01-01T00:00:00.000Z', node: 'n1', by: 'ann' }]);

    const sent: unknown[] = [];
    const api = await apiWith(async (...given: unknown[]) => void sent.push(given));
    await api.ask('POST', '/api/v1/runs/r1/nodes/n1/note', { by: 'ann' });
    expect(sent).toEqual([['r1', 'note_node', { node: 'n1', by: 'ann' }]]);
    const { body } = await api.ask('GET', '/openapi.json');
    expect(body.paths).toHaveProperty(['/api/v1/runs/{run}/nodes/{node}/note']);
    await api.close();

    expect(await printed('run', '--help')).toContain('Note something of a node of a run');
  });

  it('a field of a run’s report: four files', async () => {
    expect(Object.keys(RECIPES.reportField).length).toBeLessThanOrEqual(5);
    const { runReportSchema, reportRun, reportText } = planted;
    const report = reportRun(startedRun);
    expect(runReportSchema.parse(report)).toMatchObject({ mood: 'calm' });
    expect(reportText(report)).toContain('Mood: calm');
  });

  it('a field of a node: four files', async () => {
    expect(Object.keys(RECIPES.nodeField)).toHaveLength(4);
    const { apiAlone } = planted;
    const api = await apiAlone({ checkAnswer: undefined });
    const { status, body } = await api.ask('POST', '/api/v1/nodes', { mac: '52:54:00:00:00:01', asset_tag: 'A-1' });
    expect([status, body.asset_tag]).toEqual([201, 'A-1']);
    await api.ask('PUT', `/api/v1/nodes/${body.id}`, { asset_tag: 'A-2' });
    expect((await api.ask('GET', `/api/v1/nodes/${body.id}`)).body.asset_tag).toBe('A-2');
    await api.close();
  });

  it('a CLI command: two files', async () => {
    expect(await printed('greet')).toEqual('hello\n');
  });

  it('a setting: one file', async () => {
    const { loadSettings } = planted;
    const colour = (env: object) => loadSettings({ env, cwd: tmpdir() }).settings.temporal.colour;
    expect([colour({}), colour({ SITEWRIGHT_TEMPORAL_COLOUR: 'red' })]).toEqual(['blue', 'red']);
  });
});

interface Handler {
  read(payload: unknown): { readonly request: unknown };
  handle(request: unknown): unknown;
}
