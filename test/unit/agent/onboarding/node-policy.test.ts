import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Execution } from '../../../../src/agent/index.ts';
import {
  agentOptionsOf,
  DEFAULT_POLICY,
  loadPolicy,
  machinePolicy,
  policyRefusal,
  readPolicy,
} from '../../../../src/agent/onboarding/node-policy.ts';

const policy = (text: string) => {
  const read = readPolicy(text);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.policy;
};
const task = (type: string, parameters: Record<string, unknown>, more: Partial<Execution> = {}): Execution => ({
  run: 'r',
  task: 't',
  node: 'n',
  generation: 1,
  type,
  parameters,
  ...more,
});

describe('a policy file', () => {
  it('is YAML or JSON; an empty one is the default', () => {
    expect(policy('')).toEqual(DEFAULT_POLICY);
    expect(policy('# only a comment\n')).toEqual(DEFAULT_POLICY);
    expect(policy('shell: deny\nmax_timeout: 60\n')).toEqual({ shell: 'deny', max_timeout: 60 });
    expect(policy('{"types": ["puppet"], "path_roots": ["/srv"]}')).toEqual({
      shell: 'signed',
      types: ['puppet'],
      path_roots: ['/srv'],
    });
    expect(loadPolicy('/nonexistent/policy.yaml')).toEqual({ ok: true, policy: DEFAULT_POLICY });
    expect(loadPolicy('/')).toMatchObject({ ok: false, problems: [{ code: 'policy.unreadable' }] });
  });

  it('of the machine applies to an agent with the store without being named', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sitewright-policy-'));
    try {
      const [own, other] = [join(folder, 'policy.yaml'), join(folder, 'other.yaml')];
      expect(machinePolicy(undefined, own)).toBeUndefined();
      writeFileSync(own, 'max_timeout: 60\n');
      expect(machinePolicy(undefined, own)).toEqual({ shell: 'signed', max_timeout: 60 });
      writeFileSync(other, 'shell: allow\n');
      expect(machinePolicy(other, own)).toEqual({ shell: 'allow' });
      writeFileSync(own, 'shell: perhaps\n');
      expect(() => machinePolicy(undefined, own)).toThrow('the policy of this machine is not usable');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('with mistakes is refused with all problems and their places', () => {
    const read = readPolicy(
      'types: [pupet, shell]\npath_roots:\n  - etc\n  - /a/../b\nshell: maybe\nmax_timout: 3\nmax_timeout: 0\n',
      'policy.yaml',
    );
    const problems = read.ok ? [] : read.problems;
    expect(problems.map(({ path, line, column, file }) => [path, line, column, file])).toEqual(
      expect.arrayContaining([
        ['types[0]', 1, 9, 'policy.yaml'],
        ['path_roots[0]', 3, 5, 'policy.yaml'],
        ['path_roots[1]', 4, 5, 'policy.yaml'],
        ['shell', 5, 8, 'policy.yaml'],
        ['max_timout', 6, 1, 'policy.yaml'],
        ['max_timeout', 7, 14, 'policy.yaml'],
      ]),
    );
    expect(problems.find(({ path }) => path === 'types[0]')?.hint).toContain('puppet');
    expect(problems.find(({ path }) => path === 'max_timout')?.hint).toContain('max_timeout');
    for (const text of ['[]', '1', 'x', 'shell: [', 'a: 1\n---\nb: 2', 'types: null', '- shell: deny', '\0'])
      expect(readPolicy(text).ok, text).toBe(false);
  });
});

describe('a policy forbids', () => {
  it('scripts always, without a signature, or never', () => {
    const script = task('shell', { cmd: 'id', timeout: 5 });
    expect([true, false].map((signed) => policyRefusal(policy('shell: deny'), script, signed) === undefined)).toEqual([
      false,
      false,
    ]);
    expect([true, false].map((signed) => policyRefusal(DEFAULT_POLICY, script, signed) === undefined)).toEqual([
      true,
      false,
    ]);
    expect([true, false].map((signed) => policyRefusal(policy('shell: allow'), script, signed) === undefined)).toEqual([
      true,
      true,
    ]);
    expect(policyRefusal(DEFAULT_POLICY, task('master_shell', { cmd: 'id' }), false)).toContain('signed');
    expect(policyRefusal(DEFAULT_POLICY, task('noop', {}), false)).toBeUndefined();
  });

  it('types, folders, and tasks that may take too long', () => {
    const strict = policy('types: [upload_file, shell]\npath_roots: [/srv]\nshell: deny\nmax_timeout: 100');
    expect(agentOptionsOf(strict)).toEqual({ allowedTypes: ['upload_file'], pathRoots: ['/srv'] });
    expect(agentOptionsOf(DEFAULT_POLICY)).toEqual({});
    expect(agentOptionsOf(policy('shell: deny')).allowedTypes).not.toContain('master_shell');
    const upload = (parameters: object, more: Partial<Execution> = {}) =>
      policyRefusal(strict, task('upload_file', { path: '/srv/x', data: '', ...parameters }, more), true);
    expect(upload({ timeout: 25, retries: 3 })).toBeUndefined();
    expect(upload({ timeout: 26, retries: 3 })).toContain('may take 104 s');
    expect(upload({ timeout: 500 }, { deadlineSec: 90 })).toBeUndefined();
    expect(policyRefusal(strict, task('puppet', { puppet_manifest: '/x' }), true)).toContain('type puppet');
    expect(policyRefusal(policy('max_timeout: 60'), task('puppet', { puppet_manifest: '/x' }), true)).toContain(
      '5400 s',
    );
  });
});
