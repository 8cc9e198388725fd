import { readFileSync } from 'node:fs';
import { createTaskEngine, nodeState, prepareData, TaskScope, YaqlError } from '@sitewright/yaql';
import { parseGraphRunInput } from '../../../src/core/graph-run/input.ts';
import { operatorNote, readRequest, retryNode } from '../../../src/core/run/operator.ts';
import { readSilence } from '../../../src/core/run/silence.ts';
import { parseSiteRunInput } from '../../../src/core/site-run/input.ts';
import { SITE_RUN_KINDS } from '../../../src/core/words.ts';
import { parseYaml } from '../../../src/documents/index.ts';
import { readJson } from '../../../src/documents/reader/read-json.ts';
import { SourceText } from '../../../src/documents/reader/source-text.ts';
import * as wire from '../../../src/gateway/wire.ts';
import { readTar } from '../../../src/packages/tar.ts';
import { taskRequest } from '../../../workflows/graph/execute-graph.ts';
import { readFromPart, readToPart } from '../../../workflows/graph/messages.ts';
import { readNews } from '../../../workflows/graph/signals.ts';
import { readProgress } from '../../../workflows/site/call.ts';
import { bytesInMemory } from '../bytes-in-memory.ts';
import type { FuzzTarget } from './guided.ts';

/** Seeds that are kept: `test/data/fuzz/NAME.json`, a list of inputs. Findings go there, too. */
const kept = (name: string): string[] =>
  JSON.parse(readFileSync(new URL(`../../data/fuzz/${name}.json`, import.meta.url), 'utf8')) as string[];

/** Budgets of a hundredth: whatever an expression costs, it is refused in time. */
const engine = createTaskEngine({ clock: () => 0n, random: () => 0.5, maxSteps: 10_000, maxRegexSteps: 50_000 });
const state = nodeState(prepareData({ s: 'hello', l: [3, 1, 2], d: { a: 1 } }), prepareData({ uid: '1' }));
const scope = new TaskScope(engine, state, state);

/** Refused at a place, or a value: nothing else. */
function evaluate(expression: string): void {
  try {
    scope.evaluate(expression);
  } catch (error) {
    if (!(error instanceof YaqlError) || error.errorClass === 'HelperError') throw error;
    if (error.place === null) throw new Error(`refused without a place: ${error.message}`);
  }
}

/** A literal of YAQL. */
const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n')}'`;

const yamlTarget: FuzzTarget = {
  name: 'yaml',
  seeds: kept('yaml'),
  words: [
    '---\n',
    '...\n',
    '- ',
    ': ',
    '? ',
    '&a ',
    '*a',
    '<<: ',
    '!!str ',
    '| \n',
    '>-\n',
    '# ',
    '\n  ',
    '%YAML 1.1\n',
    '"\\x41"',
    '!t ',
  ],
  code: '/src/documents/reader/',
  run(text) {
    for (const { line, column, message } of parseYaml(text, { file: 'f.yaml' }).diagnostics)
      if (message === '' || line === undefined || line < 1 || column === undefined || column < 1)
        throw new Error(`a problem without a place: ${message}`);
  },
};

const jsonTarget: FuzzTarget = {
  name: 'json',
  seeds: kept('json'),
  words: ['{"', '":', '[', '],', 'null', 'true', '1e5', '-0', '\\u0041', '\\ud83d\\ude00', '"a"', ', '],
  code: '/src/documents/reader/',
  run(text) {
    const { ok } = readJson(new SourceText(text), { maxDepth: 10_000, constants: false });
    let isJson = true;
    try {
      JSON.parse(text);
    } catch {
      isJson = false;
    }
    // Halves of pairs are JSON, but no text; ours refuses them.
    if (isJson && !ok && /\\u|[\ud800-\udfff]/.test(text)) return;
    // So are control characters, which JSON allows from U+007F on and as escapes, and numbers that no double holds.
    if (isJson && !ok && /\\[bf]|[\u007f-\u009f]/.test(text)) return;
    if (isJson && !ok && /[eE]\+?\d{3,}|\d{300,}/.test(text)) return;
    if (ok !== isJson) throw new Error(`${ok ? 'taken' : 'refused'}, other than JSON.parse does`);
  },
};

const tarTarget: FuzzTarget = {
  name: 'tar',
  // Bytes, as Latin-1.
  seeds: kept('tar').map((base64) => Buffer.from(base64, 'base64').toString('latin1')),
  words: [
    'ustar\0' + '00',
    '\0'.repeat(512),
    '0000644\0',
    '../',
    'L',
    'x',
    '2',
    '17 path=a/../../b\n',
    '77777777777\0',
    '\x80\0\0\0',
  ],
  code: '/src/packages/',
  run(text) {
    const bytes = bytesInMemory(Buffer.from(text, 'latin1'));
    const { members } = readTar(bytes, { maxMembers: 100, maxPathBytes: 200, maxDepth: 10 });
    for (const { path } of members)
      if (path.startsWith('/') || path.split('/').some((step) => step === '..' || step === '.' || step === ''))
        throw new Error(`a member leaves the folder: ${JSON.stringify(path)}`);
  },
};

const yaqlTarget: FuzzTarget = {
  name: 'yaql',
  seeds: kept('yaql'),
  words: [
    '$',
    '$.',
    '.select(',
    '.where(',
    ' => ',
    ' -> ',
    'let(',
    'range(9)',
    '.len()',
    'dict(',
    "'a'",
    '=~',
    ' and ',
    '.toYaml()',
    'def(f, ',
  ],
  code: '/packages/yaql/src/',
  run: evaluate,
};

const regexTarget: FuzzTarget = {
  name: 'regex',
  seeds: kept('regex'),
  words: [
    '(?P<a>',
    '(?:',
    '(?=',
    '(?<!',
    '\\b',
    '\\d',
    '[^',
    '{2,5}',
    '*?',
    '++',
    '|',
    '(?i)',
    '\\1',
    '(?P=a)',
    '$',
    '^',
  ],
  code: '/packages/yaql/src/regex/',
  run(text) {
    const [pattern = '', subject = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab 12 é'] = text.split('\n', 2);
    evaluate(`${quoted(subject)} =~ ${quoted(pattern)}`);
    evaluate(`regex(${quoted(pattern)}).search(${quoted(subject)})`);
  },
};

const dateTarget: FuzzTarget = {
  name: 'dates',
  seeds: kept('dates'),
  words: ['2016-', 'T', 'Z', '+05:30', ' PM', 'Jan', 'Monday', '24:00', '.999999', 'UTC', '%Y', '%d', 'W53', '0000'],
  code: '/packages/yaql/src/',
  run(text) {
    const [date = '', format] = text.split('\n', 2);
    evaluate(`datetime(${quoted(date)}).format('%Y')`);
    if (format !== undefined) evaluate(`datetime(${quoted(date)}, ${quoted(format)})`);
  },
};

/** Messages from users and other workflows to a run. */
const temporalTarget: FuzzTarget = {
  name: 'temporal',
  seeds: kept('temporal'),
  json: true,
  code: '/src/core/',
  run(text) {
    const payload: unknown = JSON.parse(text);
    for (const args of [[payload], [], [payload, payload]]) {
      const inputs = [parseGraphRunInput(args), ...SITE_RUN_KINDS.map((kind) => parseSiteRunInput(kind, args))];
      for (const input of inputs)
        if (!input.ok && (input.problems.length === 0 || input.problems.includes('')))
          throw new Error('refused without a reason');
    }
    const readers = [
      readSilence,
      readProgress,
      readNews,
      readFromPart,
      readToPart,
      (one: unknown) => readRequest(operatorNote, one),
      (one: unknown) => readRequest(retryNode, one),
      (one: unknown) => readRequest(taskRequest, one),
    ];
    for (const read of readers) {
      const { request, problems } = read(payload);
      if (request === undefined && problems.length === 0) throw new Error('refused without a reason');
    }
  },
};

/** Messages from nodes to the gateway, and from the gateway to nodes. */
const wireTarget: FuzzTarget = {
  name: 'gateway',
  seeds: kept('gateway'),
  json: true,
  // Its shapes are data: the library that checks by them runs.
  code: '/node_modules/zod/',
  run(text) {
    const message: unknown = JSON.parse(text);
    for (const schema of Object.values(wire)) {
      if (typeof schema !== 'object') continue;
      const { success, data } = schema.safeParse(message);
      // Accepted input stays the same when it is accepted again, on the next hop.
      if (success && !schema.safeParse(JSON.parse(JSON.stringify(data))).success) throw new Error('not taken twice');
    }
  },
};

/** Parsers of everything that comes from outside, and readers of messages. */
export const TARGETS: readonly FuzzTarget[] = [
  yamlTarget,
  jsonTarget,
  tarTarget,
  yaqlTarget,
  regexTarget,
  dateTarget,
  temporalTarget,
  wireTarget,
];
