import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { tarEnd, tarHeader, tarPadding } from '../src/packages/tar.ts';

export interface AimedRequest {
  readonly method: string;
  /** Below the address of the API. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Made when it is sent: large ones would be in memory together. */
  readonly body?: () => string | Uint8Array<ArrayBuffer>;
}

/** Requests that aim at one weakness; the API has release 1, cluster 1 with the nodes 1 and 2 as `web`, and the site dc1. */
export interface Aim {
  readonly name: string;
  readonly requests: readonly AimedRequest[];
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

const JSON_TYPE = { 'content-type': 'application/json' };
const YAML_TYPE = { 'content-type': 'application/yaml' };
const GZIP_TYPE = { 'content-type': 'application/gzip' };

const json = (method: string, path: string, value: unknown): AimedRequest => ({
  method,
  path: `/api/v1${path}`,
  headers: JSON_TYPE,
  body: () => JSON.stringify(value),
});

const text = (path: string, make: () => string): AimedRequest => ({
  method: 'POST',
  path: `/api/v1${path}`,
  headers: YAML_TYPE,
  body: make,
});

// Conditions that copy whole collections, compare, write or match for long.
const EXPRESSIONS = [
  'range(0,9000).aggregate($1.union([$2].toSet()), set())',
  'range(0,9000).aggregate($1.mergeWith({$2 => $2}), {})',
  'range(0,9000).aggregate($1.set($2,1), {})',
  'range(0,9000).aggregate($1 + [$2], [])',
  'range(0,9000).aggregate($1 + str($2), "")',
  'range(0,100000).orderBy(-$).toList()',
  'range(0,3000).select(range(0,3000).toList()).toList()',
  'range(0,30).aggregate($1 + $1, "x".join(range(0,1000).select("xxxxxxxxxx")))',
  '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!" =~ "(a+)+$"',
  'range(0,2000).join(range(0,2000), $1 != $2, [$1, $2]).len()',
];

const graphOf = (condition: string) => ({
  name: 'g',
  tasks: times(5, (at) => ({
    id: `t${at}`,
    type: 'shell',
    version: '2.1.0',
    roles: ['web'],
    condition: { yaql_exp: condition },
    parameters: { cmd: 'true', timeout: 1 },
  })),
});

const expressions: Aim = {
  name: 'expressions',
  requests: EXPRESSIONS.flatMap((expression, at) => [
    json('POST', `/clusters/1/deployment_graphs/e${at}`, graphOf(expression)),
    { method: 'GET', path: `/api/v1/clusters/1/plan/?graph_type=e${at}&format=text` },
    { method: 'GET', path: `/api/v1/clusters/1/serialized_tasks/?graph_type=e${at}` },
    { method: 'GET', path: `/api/v1/clusters/1/plan/?graph_type=e${at}` },
  ]),
};

const filters: Aim = {
  name: 'node filters',
  requests: EXPRESSIONS.flatMap((expression, at) => [
    json('POST', `/clusters/1/deployment_graphs/f${at}`, {
      name: 'f',
      node_filter: `${expression}.len() > 0`,
      tasks: [],
    }),
    { method: 'GET', path: `/api/v1/clusters/1/plan/?graph_type=f${at}&format=text` },
    json('POST', '/graphs/execute/', { cluster: 1, graphs: [{ type: `f${at}` }], dry_run: true }),
  ]),
};

const PATTERNS = [
  '/(a+)+$/',
  '/(a|a)*b/',
  '/(.*)*x/',
  '/(([a-z])+.)+[A-Z]([a-z])+$/',
  '/a{0,500}a{0,500}b/',
  '/(?:a?){60}a{60}/',
];

const patterns: Aim = {
  name: 'patterns in names',
  requests: PATTERNS.flatMap((pattern, at) => {
    const graph = {
      name: 'p',
      tasks: [
        ...times(200, (n) => ({ id: `${'a'.repeat(60)}${n}`, type: 'shell', version: '2.1.0', roles: ['web'] })),
        ...times(50, (n) => ({
          id: `u${n}`,
          type: 'shell',
          version: '2.1.0',
          roles: [pattern],
          requires: [pattern.replace('/$', `{${n}}/`), pattern],
          'cross-depends': [{ name: pattern, role: pattern }],
        })),
      ],
    };
    return [
      json('POST', '/graphs/check/', graph),
      json('POST', `/clusters/1/deployment_graphs/p${at}`, graph),
      { method: 'GET', path: `/api/v1/clusters/1/plan/?graph_type=p${at}` },
    ];
  }),
};

const YAML_BOMBS: readonly (() => string)[] = [
  () => '---\n'.repeat(2_000_000),
  () => times(300_000, () => 'a: 1').join('\n'),
  () => times(200_000, (at) => `- &a${at} 1`).join('\n'),
  () => times(390_000, (at) => `k${at}: v`).join('\n'),
  () => `x: &a [${'1,'.repeat(190_000)}1]\ny: [${'*a,'.repeat(9_000)}*a]`,
  () => `a: "${'x'.repeat(7_000_000)}"`,
  () => `${'['.repeat(99)}${']'.repeat(99)}\n`.repeat(50_000),
  () => times(9_999, (at) => `---\nschema: x/Y/v1\nmetadata: {name: n${at}}\ndata: {}`).join('\n'),
  () => `a: |\n${times(390_000, () => '  x').join('\n')}`,
];

const documents: Aim = {
  name: 'documents',
  requests: YAML_BOMBS.flatMap((make) => [
    text('/documents/check', make),
    text('/sites/dc1/revisions?dry_run=true', make),
    {
      ...json('POST', '/documents/check', {}),
      body: () => JSON.stringify({ files: [{ name: 'a.yaml', text: make() }] }),
    },
  ]),
};

const graphs: Aim = {
  name: 'large graphs',
  requests: [20_000, 60_000].flatMap((count, at) => {
    const body = () =>
      JSON.stringify({
        name: 'l',
        tasks: times(count, (n) => ({
          id: `t${n}`,
          type: 'shell',
          version: '2.1.0',
          roles: ['web'],
          requires: n === 0 ? [] : [`t${n - 1}`, `u${n}`],
          parameters: { cmd: { yaql_exp: `$.x${n} + ${n}` } },
        })),
      });
    const asYaml = () => times(count, (n) => `- {id: t${n}, type: shell, roles: [web], requires: [u${n}]}`).join('\n');
    return [
      { ...json('POST', '/graphs/check/', {}), body },
      { ...json('POST', `/clusters/1/deployment_graphs/l${at}`, {}), body },
      text('/graphs/check/', asYaml),
    ];
  }),
};

/** An archive that is sound but large: 60 members of 8 MiB pack to about 8 MiB, so that the ratio alone does not refuse it. */
export function largeArchive(members: number, bytes: number): Buffer {
  const content = Buffer.alloc(bytes);
  // One byte of noise after each 350 bytes.
  for (let at = 0; at < bytes; at += 350) content[at] = (at * 2_654_435_761) % 251;
  const sum = createHash('sha256').update(content).digest('hex');
  const list = Buffer.from(times(members, (at) => `${sum}  f${at}.bin\n`).join(''));
  const member = (name: string, part: Uint8Array) => [
    tarHeader(`p-1.0.0/${name}`, 'file', part.length, false),
    part,
    tarPadding(part.length),
  ];
  const parts = times(members, (at) => member(`f${at}.bin`, content)).flat();
  return gzipSync(Buffer.concat([...parts, ...member('checksums.sha256', list), tarEnd()]));
}

let made: Buffer | undefined;
const bomb = (): Buffer => (made ??= largeArchive(60, 8 * 1024 * 1024));

const archives: Aim = {
  name: 'archives',
  requests: times(8, () => ({
    method: 'POST',
    path: '/api/v1/packages',
    headers: GZIP_TYPE,
    body: () => new Uint8Array(bomb()),
  })),
};

/** JSON of at most this many characters, each of which costs more than its size suggests. */
const DENSE: readonly ((size: number) => string)[] = [
  (size) => `[${'[],'.repeat(size / 3)}[]]`,
  (size) => `[${'1,'.repeat(size / 2)}1]`,
  (size) => `{${times(Math.floor(size / 11), (at) => `"k${at}":0`).join(',')}}`,
  (size) => `["${'x'.repeat(size)}"]`,
  (size) => `["${'\\"'.repeat(size / 2)}"]`,
  (size) => `["${'é'.repeat(size / 2)}"]`,
  (size) => `[1${'0'.repeat(size)}]`,
  (size) => ' '.repeat(size),
];

const MEGABYTE = 1024 * 1024;

const bodies: Aim = {
  name: 'JSON bodies',
  requests: DENSE.flatMap((dense) => {
    const put = (path: string, body: () => string): AimedRequest => ({ ...json('PUT', path, {}), body });
    return [
      put('/clusters/1/attributes', () => `{"editable":{"a":${dense(15 * MEGABYTE)}}}`),
      put('/clusters/1/network_configuration/neutron', () => `{"networks":${dense(15 * MEGABYTE)}}`),
      put('/clusters/1/orchestrator/deployment', () => `[{"uid":"1","a":${dense(60 * MEGABYTE)}}]`),
      put('/nodes', () => dense(15 * MEGABYTE)),
      put('/releases/1/roles_metadata', () => `{"a":${dense(15 * MEGABYTE)}}`),
      { ...put('/graphs/check/', () => `{"tasks":${dense(30 * MEGABYTE)}}`), method: 'POST' },
      { ...put('/sites/dc1/revisions', () => `{"files":${dense(30 * MEGABYTE)}}`), method: 'POST' },
      { ...put('/sites', () => `{"name":${dense(MEGABYTE - 100)}}`), method: 'POST' },
    ];
  }),
};

const large: Aim = {
  name: 'too large bodies',
  requests: times(12, (at) => ({
    method: 'POST',
    path: at % 2 === 0 ? '/api/v1/sites' : '/api/v1/documents/check',
    headers: at % 3 === 0 ? YAML_TYPE : JSON_TYPE,
    body: () => 'x'.repeat(100_000_000),
  })),
};

const CONTROLS = ['\u0000', '\u0001', '\u001b[2J', '\u007f', '\u0085', '\u009b', '\u2028', '\u202e'];

const controls: Aim = {
  name: 'control characters',
  requests: CONTROLS.flatMap((character) => {
    const odd = `a${character}b`;
    const inUrl = encodeURIComponent(odd);
    return [
      json('POST', '/sites', { name: odd }),
      json('POST', '/releases', { name: odd, version: odd, operating_system: odd }),
      json('POST', '/clusters', { name: odd, release_id: 1 }),
      json('POST', '/nodes', { name: odd }),
      json('POST', `/clusters/1/deployment_graphs/${inUrl}`, { name: odd, tasks: [] }),
      json('POST', '/clusters/1/deployment_graphs/c', {
        name: 'c',
        tasks: [{ id: odd, type: 'shell', version: '2.1.0' }],
      }),
      { method: 'GET', path: `/api/v1/sites/${inUrl}` },
      { method: 'GET', path: `/api/v1/runs?site=${inUrl}` },
      { method: 'GET', path: `/api/v1/clusters/1/plan/?graph_type=${inUrl}` },
      json('POST', '/sites/dc1/revisions', { files: [{ name: odd, text: 'a: 1' }] }),
    ];
  }),
};

export const AIMS: readonly Aim[] = [
  expressions,
  filters,
  patterns,
  documents,
  graphs,
  bodies,
  archives,
  large,
  controls,
];
