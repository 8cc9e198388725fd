import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { afterAll, describe, expect, it } from 'vitest';
import { taskTypesPage } from '../../../scripts/reference/task-types.ts';
import { DEFAULT_PATH_ROOTS } from '../../../src/agent/task-types/path-rules.ts';
import { formatManifest } from '../../../src/core/sources/folder-manifest.ts';
import { typesOver } from '../../../src/core/task-types/index.ts';
import { AgentRig } from '../../rig/agent.ts';

const page = readFileSync(new URL('../../../docs/reference/task-types.md', import.meta.url), 'utf8');
const rig = new AgentRig();
afterAll(() => rig.tidy());

const place = rig.path('example');
mkdirSync(place);
writeFileSync(`${place}/site.pp`, `file { '${place}/by-puppet': content => 'x' }`);

interface Example {
  readonly type: string;
  readonly needs?: string;
  readonly parameters: Record<string, unknown>;
}

const examples = [...page.matchAll(/```yaml\n(.*?)```\n\n```json\n(.*?)```/gs)].map(([, task, result]) => ({
  task: load(task!.replaceAll('/srv/example', place)) as Example,
  result: JSON.parse(result!.replaceAll('/srv/example', place)) as object,
}));

describe.skipIf(process.platform !== 'linux')('docs/reference/task-types.md', () => {
  const script = 'echo hello\n';
  const sha256 = createHash('sha256').update(script).digest('hex');
  const packages: Record<string, string> = {
    'package:example==1.0.0/scripts': formatManifest([{ path: 'hello.sh', sha256, executable: true }]),
    'package:example==1.0.0/scripts//hello.sh': script,
  };
  const agent = rig.agent({
    rebootCommand: ['true'],
    readSource: async (path) => (path in packages ? Buffer.from(packages[path]!) : readFileSync(path)),
  });

  it('is generated from the descriptors (npm run docs:task-types)', () => expect(page).toBe(taskTypesPage()));

  it('has an example for every type that agents carry out', () => {
    const shown = new Set(examples.map(({ task }) => task.type));
    expect(typesOver('agent').filter((name) => !shown.has(name))).toEqual(['noop', 'skipped']);
    expect(page.match(/```(yaml|json)/g)).toHaveLength(2 * examples.length);
  });

  // In their order: later ones use files of earlier ones.
  examples.forEach(({ task, result }, at) => {
    const missing = task.needs !== undefined && spawnSync(task.needs, ['--version']).status !== 0;
    it.skipIf(missing)(`example ${at + 1}, ${task.type}, ends as documented`, async () => {
      expect(await rig.run(agent, rig.task(task.type, task.parameters))).toMatchObject(result);
    });
  });
});

it('docs/how-to/agents.md names every folder that files may be placed in', () => {
  const agents = readFileSync(new URL('../../../docs/how-to/agents.md', import.meta.url), 'utf8');
  for (const root of DEFAULT_PATH_ROOTS) expect(agents).toContain(`\`${root}\``);
});
