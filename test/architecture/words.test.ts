import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Words that a native engineer would not use here, with what to write instead: the worst offenders of the list in
 * CONTRIBUTING.md ("Words"), which has the rest. In names of code they may stand inside a longer name (camelCase).
 */
const OFFENDERS: readonly (readonly [word: RegExp, instead: string])[] = [
  [/\bwish(es|ed)?\b|[a-z]Wish|\bwish[A-Z]/, 'request'],
  [/\bmend(s|ed|ing)?\b/i, 'fix'],
  [/\b(told|heard)\b/i, 'sent, recorded, reported, received'],
  [/\btell(s|ing)?\b/i, 'say, report, send, distinguish'],
  [/\bwhoever\b/i, 'the caller, the user, anyone who'],
  [/\bnobody\b/i, 'no one'],
  [
    /(?<!\bthere )\b(is|are|was|were) no (?!longer|more|one\b|different|better|worse|fewer|less|such|need|way|doubt)[a-z]/i,
    'is not a',
  ],
  [/\bhand(s|ed|ing)? over\b/i, 'pass'],
  [/\bword of (an|the) operator\b|\bwords of operators\b/i, "an operator's request"],
  [/\broom (is )?left\b|\bhas room\b|\bhasRoom|[a-z]Room\b/, 'capacity, space left'],
  [/\bgive(s|n)? free\b|giveFree/, 'release'],
  [/\b(to|come|comes|came) (its|their) end\b|toItsEnd/, 'to completion, ended'],
  [/\bbegun\b/i, 'started'],
  [/(?<!keep-?)\balive\b/i, 'running, live'],
  [/\banew\b/i, 'again'],
  [/\bis at it\b|\bare at it\b/i, 'is working on it'],
  [/\bbefell\b|\bbefalls\b/i, 'happened to'],
  [/\bafresh\b/i, 'again'],
];

/** Names in stored histories, snapshots and JSON, and a message recorded from YAQL: they stay as they are. */
const STORED =
  /'told'|\b(talk|signal)\.(told|heard)\b|\breadonly heard\b|'heard'|\b(told|heard):|\bbegun: (s\.started|boolean)|\bsnapshot\.begun\b|'alive'|\balive: isSupervised|a value that is no pair/g;

/** Recorded text of other systems and of earlier versions keeps its words; these two name what to avoid. */
const EXEMPT =
  /^(test\/(data|golden|replay)|examples|src\/maas-simulator\/|package-lock\.json|CHANGELOG\.md|LICENSE|CONTRIBUTING\.md$|test\/architecture\/words\.test\.ts$)/;

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => /\.(ts|mjs|js|md|html|css|yml|yaml|sh)$/.test(path) && !EXEMPT.test(path))
  .filter((path) => existsSync(root + path));

describe('the words of code, messages and documents', () => {
  it('are read from files that exist', () => expect(files).toContain('src/core/diagnostic.ts'));

  it.each(OFFENDERS)('do without %s (write: %s)', (word) => {
    const found = files.flatMap((path) =>
      readFileSync(root + path, 'utf8')
        .split('\n')
        .flatMap((line, at) =>
          word.test(line.replace(STORED, '')) ? [`${path}:${at + 1}: ${line.trim().slice(0, 100)}`] : [],
        ),
    );
    expect(found).toEqual([]);
  });
});
