import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const text = (path: string): string => readFileSync(root + path, 'utf8');
const yaml = <T>(path: string): T => load(text(path)) as T;

interface Workflow {
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly strategy?: { readonly matrix: Readonly<Record<string, readonly (string | number)[]>> };
        readonly steps: readonly { readonly run?: string }[];
      }
    >
  >;
}

/** What people expect of a repository, where it can be wrong without anyone noticing. */
describe('the repository', () => {
  it('has each push checked on the Node.js versions that are promised', () => {
    const { run } = yaml<Workflow>('.github/workflows/ci.yml').jobs;
    expect(run!.strategy!.matrix.node).toEqual(expect.arrayContaining([24, 26]));
    expect(run!.steps.map((step) => step.run ?? '').join('\n')).toContain('bash .ci/run');
  });

  it('has every nightly step run each night', () => {
    const steps = [...text('.ci/nightly').matchAll(/^(\w+)\(\) \{/gm)].map(([, name]) => name);
    const { step } = yaml<Workflow>('.github/workflows/nightly.yml').jobs;
    expect([...step!.strategy!.matrix.step!].sort()).toEqual(steps.sort());
  });

  it('names one Node.js for whoever works on it', () => {
    const major = text('.nvmrc').trim();
    const { engines } = JSON.parse(text('package.json')) as { readonly engines: { readonly node: string } };
    expect(engines.node).toMatch(new RegExp(`^>=${major}\\.`));
    const image = /^ARG NODE_IMAGE=node:([\d.]+)-/m.exec(text('deploy/Dockerfile'))?.[1];
    expect(image).toMatch(new RegExp(`^${major}\\.`));
    expect(JSON.parse(text('.devcontainer/devcontainer.json')).image).toBe(`node:${image}-bookworm`);
  });

  it('has a hook that git runs', () => {
    const staged = execFileSync('git', ['ls-files', '--stage', '.githooks'], { cwd: root, encoding: 'utf8' });
    expect(staged).toMatch(/^100755 \S+ 0\t\.githooks\/pre-commit\n$/);
  });

  it('has issue forms that GitHub accepts, and shows where vulnerabilities go', () => {
    const folder = '.github/ISSUE_TEMPLATE';
    const forms = readdirSync(root + folder).filter((name) => name !== 'config.yml');
    expect(forms.length).toBeGreaterThan(1);
    for (const name of forms) {
      const form = yaml<{
        readonly name: string;
        readonly description: string;
        readonly body: readonly {
          readonly type: string;
          readonly id: string;
          readonly attributes: { readonly label: string };
        }[];
      }>(`${folder}/${name}`);
      expect(form.name && form.description, name).toBeTruthy();
      const ids = form.body.map(({ id }) => id);
      expect(new Set(ids).size, name).toBe(ids.length);
      for (const { type, id, attributes } of form.body) {
        expect(type, name).toBe('textarea');
        expect(id, name).toMatch(/^[a-z-]+$/);
        expect(attributes.label, name).not.toBe('');
      }
    }
    const { contact_links: links } = yaml<{ readonly contact_links: readonly { readonly url: string }[] }>(
      `${folder}/config.yml`,
    );
    const { bugs } = JSON.parse(text('package.json')) as { readonly bugs: string };
    expect(links.map(({ url }) => url)).toContain(bugs.replace(/issues$/, 'security/advisories/new'));
  });
});
