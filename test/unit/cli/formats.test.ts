import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { nodeFinding } from '../../../src/cli/commands/doctor.ts';
import { addressOf, apiOrigin } from '../../../src/cli/shell/api-address.ts';
import { type Format, formatCsv, printList } from '../../../src/cli/shell/output.ts';
import { formatRecord, formatTable } from '../../../src/cli/shell/table.ts';
import { formatDuration } from '../../../src/cli/views/duration.ts';
import { recordingTerminal } from './recording-terminal.ts';

const rows = [
  { name: 'a', count: 5, tags: ['x', 'y'], note: null },
  { name: 'long name', count: 12, tags: [], note: 'says "hi", twice\nor so' },
];
const columns = ['name', 'count', 'tags', 'note'];

it('a table lines up, numbers to the right, nothing ends in blanks', () => {
  expect(formatTable(rows, columns)).toBe(
    'NAME       COUNT  TAGS  NOTE\na              5  x,y   -\nlong name     12        says "hi", twice or so\n',
  );
});

it('wide and combining characters count with their width', () => {
  const text = formatTable(
    [
      { a: '日本', b: 'x' },
      { a: 'e\u0301', b: 'y' },
    ],
    ['a', 'b'],
  );
  expect(text).toBe('A     B\n日本  x\ne\u0301     y\n');
});

describe('a list on a terminal', () => {
  const wide = ['01a20506-fe6c', '01a20507-aaaa'].map((id, at) => ({
    ...{ id, kind: 'execute_graph', site: null, state: 'success with failures', failed_nodes: 12, started_by: 'nina' },
    ...{ title: '日本 and a long title of a run '.repeat(4 * at), started_at: '2026-11-22T20:58:24.000Z', revision: 3 },
  }));
  const all = ['id', 'kind', 'site', 'state', 'failed_nodes', 'title', 'started_at', 'started_by', 'revision'];
  const widthOf = (line: string) => [...line].reduce((sum, one) => sum + (/[日本]/.test(one) ? 2 : 1), 0);

  it.each([40, 60, 80, 100, 132])('fits %i columns, names each row in full and lists omitted columns', async (most) => {
    const terminal = recordingTerminal({ columns: most });
    await printList(terminal, { format: 'table' }, wide, all);
    const lines = terminal.said.out.trimEnd().split('\n');
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(most);
    for (const [at, { id }] of wide.entries()) expect(lines[at + 1]).toMatch(new RegExp(`^${id} `));
    const text = lines.join(' ').toLowerCase();
    for (const column of all) expect(text).toMatch(new RegExp(column.replace('_', '[ _]')));
  });

  it('has whole kinds and times on 80 columns: times by their distance from now', async () => {
    const terminal = recordingTerminal({ columns: 80 });
    await printList(terminal, { format: 'table' }, wide, ['id', 'kind', 'site', 'state', 'started_at', 'title']);
    for (const line of terminal.said.out.split('\n').slice(1, 1 + wide.length))
      expect(line).toMatch(/ execute_graph .* (\d+ (s|min|h|days) ago|in \d+ (s|min|h|days))( |$)/);
  });

  it('has full values where they fit, and in files', async () => {
    for (const columns of [500, undefined]) {
      const terminal = recordingTerminal(columns === undefined ? {} : { columns });
      await printList(terminal, { format: 'table' }, wide, all);
      expect(terminal.said.out).toContain(wide[1]!.title.trimEnd());
      expect(terminal.said.out).not.toContain('…');
    }
  });
});

describe('on a terminal', () => {
  const screen = { columns: 80, now: Date.parse('2026-05-02T10:04:30.000Z') };

  it('explanations are wrapped, and nothing of them is lost', () => {
    const [message, hint] = ['No node has the tag spare.', 'Assign the tags to nodes to run them.'];
    const text = formatTable(
      [{ severity: 'info', code: 'check.tags-unassigned', message, hint }],
      ['severity', 'code', 'message', 'hint'],
      false,
      screen,
    );
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    for (const word of `${message} ${hint}`.split(' ')) expect(text).toContain(word);
    expect(text).not.toMatch(/…|more columns/);
  });

  it('times are shown with their distance from now', () => {
    const rows = ['2026-05-02T10:00:00.000Z', '2026-05-01T12:00:00Z', '2026-04-20T10:00:00Z', '2026-05-02T12:04:30Z'];
    const text = formatTable(
      rows.map((at) => ({ at })),
      ['at'],
      false,
      screen,
    );
    expect(text).toBe(
      'AT\n10:00:00Z (4 min ago)\n12:00:00Z (22 h ago)\n2026-04-20 10:00Z (12 days ago)\n12:04:30Z (in 2 h)\n',
    );
  });
});

it('control characters are made visible', () => {
  expect(formatTable([{ a: '\u001b[2Jx\u202ey' }], ['a'])).toBe('A\n\uFFFD[2Jx\uFFFDy\n');
});

it('an empty table shows only its heading', () => expect(formatTable([], ['a_b', 'c'])).toBe('A B  C\n'));

it('a record shows the first values of a long list, and how many more there are', () => {
  const nodes = Array.from({ length: 200 }, (_, at) => at + 1);
  expect(formatRecord({ id: 1, nodes })).toBe('id     1\nnodes  1,2,3,4,5,6,7,8,9,10,11,12 and 188 more\n');
});

it('csv quotes only the cells that need it', () => {
  expect(formatCsv(rows, columns)).toBe(
    'name,count,tags,note\r\na,5,x y,\r\nlong name,12,,"says ""hi"", twice\nor so"\r\n',
  );
});

describe('output', () => {
  const print = async (format: Format, column?: string[]): Promise<string> => {
    const terminal = recordingTerminal();
    await printList(terminal, { format, ...(column ? { column } : {}) }, rows, ['name']);
    return terminal.said.out;
  };
  it('json and yaml have all fields', async () => {
    expect(JSON.parse(await print('json'))).toEqual(rows);
    expect(load(await print('yaml'))).toEqual(rows);
  });
  it('columns select fields, in their order, in every format', async () => {
    expect(await print('table', ['count', 'name'])).toBe('COUNT  NAME\n    5  a\n   12  long name\n');
    expect(await print('csv', ['count'])).toBe('count\r\n5\r\n12\r\n');
    expect(JSON.parse(await print('json', ['count']))).toEqual([{ count: 5 }, { count: 12 }]);
  });
  it('an unknown column is named, with the known ones', async () => {
    await expect(print('table', ['nmae'])).rejects.toMatchObject({
      exitCode: 2,
      problem: { message: 'there is no column nmae', hint: 'Columns are: name, count, tags, note.' },
    });
  });
  it('colour is used only where it is wanted', async () => {
    const terminal = recordingTerminal({ color: true });
    await printList(terminal, { format: 'table' }, rows, ['name']);
    expect(terminal.said.out).toContain('\u001b[1mNAME');
    expect(await print('table')).not.toContain('\u001b');
  });
});

it.each([
  [0, '0s'],
  [59_400, '59s'],
  [130_000, '2m10s'],
  [3_600_000 * 3 + 300_000, '3h05m'],
  [-5, '0s'],
])('%i ms reads %s', (milliseconds, text) => expect(formatDuration(milliseconds)).toBe(text));

describe('the address of the API', () => {
  it.each([
    ['127.0.0.1', 8080, 'http://127.0.0.1:8080'],
    ['0.0.0.0', 1, 'http://127.0.0.1:1'],
    ['::', 1, 'http://[::1]:1'],
    ['::1', 1, 'http://[::1]:1'],
    ['site.example', 80, 'http://site.example:80'],
  ])('to a listener on %s:%i is %s', (host, port, url) => expect(addressOf(host, port)).toBe(url));

  it.each([
    [{ SITEWRIGHT_API: 'http://a:1/' }, {}, 'http://a:1'],
    [{ SITEWRIGHT_API: 'a:1' }, {}, 'http://a:1'],
    [{ SITEWRIGHT_API: 'http://a:1' }, { api: 'https://b/x/api/v1' }, 'https://b/x'],
    [{}, {}, 'http://127.0.0.1:8080'],
    [{ SITEWRIGHT_API_PORT: '9000' }, {}, 'http://127.0.0.1:9000'],
  ])('with %j and %j is %s', async (env, flags, url) => {
    expect((await apiOrigin(recordingTerminal({ env, cwd: '/' }), flags)).url).toBe(url);
  });
});

it.each([
  ['22.23.3', 'fail'],
  ['24.0.0', 'ok'],
  ['18.20.0', 'fail'],
  ['26.10.0', 'ok'],
])('Node.js %s is %s', (version, state) => expect(nodeFinding(version).state).toBe(state));
