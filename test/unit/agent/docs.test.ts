import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_PATH_ROOTS } from '../../../src/agent/path-rules.js';
import { prepareTask } from '../../../src/agent/prepare-task.js';
import { typesOver } from '../../../src/core/task-types/index.js';
import { AgentRig } from '../../rig/agent.js';

const page = readFileSync(new URL('../../../docs/agents.md', import.meta.url), 'utf8');
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

describe.skipIf(process.platform !== 'linux')('docs/agents.md', () => {
  const agent = rig.agent({ rebootCommand: ['true'] });

  it('has an example for every type, and nothing that is not run', () => {
    const types = new Set(examples.map(({ task }) => task.type));
    const shown = [...page.matchAll(/^## ([a-z_, ]+)$/gm)].flatMap(([, names]) => names!.split(', '));
    expect(typesOver('agent').filter((name) => !shown.includes(name))).toEqual([]);
    expect(typesOver('agent').filter((name) => !types.has(name))).toEqual(['noop', 'skipped']);
    expect(page.match(/```(yaml|json)/g)).toHaveLength(2 * examples.length);
  });

  // In their order: later ones use files of earlier ones.
  examples.forEach(({ task, result }, at) => {
    const missing = task.needs !== undefined && spawnSync(task.needs, ['--version']).status !== 0;
    it.skipIf(missing)(`example ${at + 1}, ${task.type}, ends as it says`, { timeout: 60_000 }, async () => {
      expect(await rig.run(agent, rig.task(task.type, task.parameters))).toMatchObject(result);
    });
  });

  it('has the defaults that are in force', () => {
    const sections = page.split(/^## /m).filter((section) => section.includes('| `timeout` |'));
    expect(sections).toHaveLength(7);
    for (const section of sections) {
      const type = section.slice(0, section.indexOf('\n'));
      const {
        timeout: _t,
        retries: _r,
        ...parameters
      } = examples.find(({ task }) => task.type === type)!.task.parameters;
      const preparation = prepareTask(rig.task(type, parameters));
      if (!preparation.ok) throw new Error(JSON.stringify(preparation.problems));
      const stated = (name: string) => /\| (\d+) \|/.exec(section.split(`| \`${name}\` `)[1] ?? '')?.[1];
      const { timeoutSec, retries } = preparation.task.limits;
      const files = type === 'upload_files' ? 2 : 1;
      const extra = type === 'reboot' ? 60 : 0;
      expect([type, Number(stated('timeout'))]).toEqual([type, (timeoutSec - extra) / files]);
      if (stated('retries') !== undefined) expect([type, Number(stated('retries'))]).toEqual([type, retries]);
    }
    for (const root of DEFAULT_PATH_ROOTS) expect(page).toContain(`\`${root}\``);
  });
});
