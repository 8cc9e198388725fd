import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MachineStatus } from '@sitewright/maas/status';
import { describe, expect, it } from 'vitest';
import { TASKS_IN_ONE_WORKFLOW } from '../../../src/core/graph-run/cut.ts';
import { GRAPH_RUN_OUTCOMES, SITE_RUN_OUTCOMES } from '../../../src/core/words.ts';
import { NODES_IN_ONE_WORKFLOW } from '../../../workflows/site/call.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const page = readFileSync(`${root}docs/explain/design.md`, 'utf8');
const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
const sections = new Set([...page.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => slug(heading!)));

describe('docs/explain/design.md', () => {
  it('every comment that refers to the design names one of its sections', () => {
    const files = execFileSync(
      'git',
      ['ls-files', 'src', 'packages', 'workflows', 'activities', 'worker', 'test', 'scripts', 'bench'],
      {
        cwd: root,
        encoding: 'utf8',
      },
    );
    const code = files
      .split('\n')
      .filter((file) => /\.(ts|mjs|js|py)$/.test(file) && file !== 'test/unit/docs/design.test.ts');
    const references = code.flatMap((file) =>
      [...readFileSync(root + file, 'utf8').matchAll(/docs\/explain\/design\.md(?:#([\w-]+))?/g)].map(([, name]) => [
        file,
        name,
      ]),
    );
    expect(references.length).toBeGreaterThan(40);
    expect(references.filter(([, name]) => name === undefined || !sections.has(name))).toEqual([]);
    // Papers that a reader of the repository does not have.
    const papers = /design §|(?<![\w/.-])(?:spec\/[1-5]\b(?!-)|reference\/[a-z-]+\.md)/;
    expect(code.filter((file) => papers.test(readFileSync(root + file, 'utf8')))).toEqual([]);
  });

  it('states the limits that the code has', () => {
    expect(page).toContain(`| tasks in one workflow | ${TASKS_IN_ONE_WORKFLOW.toLocaleString('en')};`);
    expect(page).toContain(`| nodes called by one workflow | ${NODES_IN_ONE_WORKFLOW};`);
  });

  it('draws only existing states', () => {
    const [machines, runs] = [...page.matchAll(/```mermaid\n([\s\S]*?)```/g)].map(([, drawing]) => drawing!);
    const statesOf = (drawing: string) =>
      new Set([...drawing.matchAll(/^ +(\w+) --> (\w+)?/gm)].flatMap(([, from, to]) => [from!, ...(to ? [to] : [])]));
    for (const state of statesOf(machines!)) expect(Object.keys(MachineStatus)).toContain(state);
    for (const outcome of [...SITE_RUN_OUTCOMES, ...GRAPH_RUN_OUTCOMES])
      expect([...statesOf(runs!)]).toContain(outcome);
  });
});
