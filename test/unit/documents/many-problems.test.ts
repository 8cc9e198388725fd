import { describe, expect, it } from 'vitest';
import { loadSite, parseYaml } from '../../../src/documents/index.ts';
import { CONFIGURATION, files, node, strategy } from './site-files.ts';

const count = (codes: readonly string[], code: string) => codes.filter((candidate) => candidate === code).length;
const codesOf = (...texts: string[]) => loadSite(files(CONFIGURATION, ...texts)).diagnostics.map(({ code }) => code);

describe('thousands of mistakes of one kind are listed up to a limit, and counted', () => {
  it('keys of a file', () => {
    const codes = parseYaml('a: 1\n'.repeat(5_000), { file: 'f' }).diagnostics.map(({ code }) => code);
    expect(codes).toHaveLength(1_001);
    expect(codes.at(-1)).toBe('yaml.more-problems');
  });

  it('values of a document', () => {
    const { diagnostics } = loadSite(files(CONFIGURATION, strategy('- 1\n'.repeat(2_000)), node('n1')));
    expect(diagnostics).toHaveLength(501);
    expect(diagnostics.find(({ code }) => code === 'document.more-problems')!.message).toMatch(/^1500 more problems/);
  });

  it('groups beyond the limit of ordering', () => {
    const { diagnostics } = loadSite(
      files(CONFIGURATION, strategy('- {name: g, critical: no, depends_on: [], selectors: []}\n'.repeat(10_001))),
    );
    expect(diagnostics.map(({ message }) => message)).toContain('data.groups must have at most 10000 items');
  });

  it('dependencies, names in selectors, nodes without a group', () => {
    const names = Array.from({ length: 300 }, (_, index) => `x${index}`).join(', ');
    const unknown = codesOf(strategy(`- {name: g, critical: no, depends_on: [${names}], selectors: []}`), node('n1'));
    expect(count(unknown, 'strategy.unknown-dependency')).toBe(100);
    expect(count(unknown, 'strategy.more-problems')).toBe(1);

    const nodes = Array.from({ length: 300 }, (_, index) => node(`n${index}`)).join('');
    const codes = codesOf(
      strategy(`- {name: g, critical: no, depends_on: [], selectors: [{node_names: [${names}]}]}`),
      nodes,
    );
    expect(count(codes, 'strategy.unknown-node')).toBe(100);
    expect(count(codes, 'strategy.node-in-no-group')).toBe(101);
  });
});
