import { isMapping, type Mapping } from '../data/plain-value.ts';
import {
  amount,
  type Content,
  content,
  count,
  flag,
  list,
  operand,
  optional,
  type Parameter,
  type Place,
  path,
  permissions,
  text,
} from './parameter.ts';
import { type TaskInput, type TaskLimits, taskType } from './task-type.ts';

const file = (meaning: string) =>
  path(meaning, undefined, (value, place) => {
    if (value.endsWith('/')) place.wrong(`${place.name} names a folder`, 'Add the name of the file.');
  });

const taskPermissions = {
  permissions: permissions('of the file', 0o644),
  dir_permissions: permissions('of folders that are created', 0o755),
};

/** Parameters of a file that all types have, except permissions. */
const fileParameters = {
  user_owner: optional(text('name or number'), 'root'),
  group_owner: optional(text('name or number'), 'root'),
  overwrite: flag('false: an existing file is not changed', true),
  parents: flag('false: the folder must exist', true),
  allow_special_permissions: flag('true for files that are setuid, setgid or writable for everyone', false),
};

/** One of several files; permissions default to those of the task. */
const listedFile = {
  dst: file('the file'),
  permissions: optional(permissions('of the file'), "the task's"),
  dir_permissions: optional(permissions('of folders that are created'), "the task's"),
  ...fileParameters,
};

interface Mode {
  readonly permissions?: number | undefined;
  readonly allow_special_permissions: boolean;
}

function checkMode(one: Mode, fallback: number, place: Place): void {
  if (((one.permissions ?? fallback) & 0o6002) !== 0 && !one.allow_special_permissions)
    place
      .below('permissions')
      .broken(
        'the file would be setuid, setgid or writable for everyone',
        'Choose others, or set allow_special_permissions: true if this is intended.',
      );
}

const checkModes = (files: readonly Mode[], fallback: number, place: Place): void => {
  for (const [at, one] of files.entries()) checkMode(one, fallback, place.below(at));
};

/** The timeout of an upload applies to each try; tries follow each other without a pause. */
const uploadLimits = (timeoutSec: number, retries: number): Partial<TaskLimits> => ({
  timeoutSec,
  timeoutCovers: 'each-try',
  retries,
  killGraceSec: 0,
});

const secretsOf = (files: readonly { readonly data: Content }[]): TaskInput[] =>
  files.flatMap(({ data }) => ('secret' in data ? [{ kind: 'secret', ref: data.secret }] : []));

const data = content('its content, or `{secret: REF}`');

export const uploadFile = taskType('upload_file', {
  over: ['agent'],
  does: 'Places one file with the given content.',
  parameters: {
    path: file('the file'),
    data,
    ...taskPermissions,
    ...fileParameters,
    timeout: amount('seconds for each try', 60),
    retries: count('further tries', 3),
  },
  limits: ({ timeout, retries }) => uploadLimits(timeout, retries),
  inputs: (one) => secretsOf([one]),
  rule: (one, place) => checkMode(one, 0o644, place),
  examples: [
    {
      parameters: { path: '/srv/example/motd', data: 'Welcome\n', permissions: '0640' },
      result: { outcome: 'success', changed: true, output: { stdout: { tail: 'written: /srv/example/motd\n' } } },
    },
    {
      parameters: { path: '/srv/example/motd', data: 'Welcome\n', permissions: '0888' },
      result: { outcome: 'refused', failure: { problems: [{ path: 'parameters.permissions' }] } },
    },
  ],
});

const uid: Parameter<string> = text('id of the node', undefined, (value, place) => {
  const { node } = place.reading;
  if (node !== undefined && value !== '' && value !== node)
    place.wrong(
      `these files are for node ${value}, and this is node ${node}`,
      "Send each node's part to that node's agent.",
    );
});

export const uploadFiles = taskType('upload_files', {
  over: ['agent'],
  does: `Places files on a list of nodes. Each node's part is a separate execution on that node. It places the files in
order and stops at the first failure.`,
  parameters: {
    nodes: list('the nodes', { uid, files: list('its files', { ...listedFile, data }) }),
    ...taskPermissions,
    timeout: amount('seconds for each file', 60),
    retries: count('further tries', 3),
  },
  // The timeout is for one file, so a task with several files has a multiple of it.
  limits: ({ nodes, timeout, retries }) =>
    uploadLimits(timeout * Math.max(1, nodes.flatMap(({ files }) => files).length), retries),
  inputs: ({ nodes }) => secretsOf(nodes.flatMap(({ files }) => files)),
  rule: ({ nodes, permissions: own }, place) => {
    for (const [at, { files }] of nodes.entries())
      checkModes(files, own, place.below('nodes').below(at).below('files'));
  },
  partFor: (given, uid, agent) => {
    const byNode = filesByNode(given);
    const others = [...byNode.keys()].filter((node) => node !== uid);
    const nodes = (byNode.get(uid) ?? []).map((entry) => (isMapping(entry) ? { ...entry, uid: agent } : entry));
    const problem = `also has files for ${others.join(', ')}, which only a task on those nodes can place: place it there`;
    return { parameters: { ...given, nodes }, ...(others.length === 0 ? {} : { problem }) };
  },
  examples: [
    {
      parameters: {
        nodes: [
          {
            uid: '1',
            files: [
              { dst: '/srv/example/a', data: 'a' },
              { dst: '/srv/example/b', data: 'b' },
            ],
          },
        ],
      },
      result: { outcome: 'success', changed: true, summary: { files: 2, placed: 2 } },
    },
  ],
});

/** The entries of `nodes` by their node, in order of first mention; those without a node are under `''`. */
function filesByNode({ nodes }: Mapping): Map<string, readonly unknown[]> {
  const parts = new Map<string, readonly unknown[]>();
  for (const entry of Array.isArray(nodes) ? nodes : []) {
    const node = isMapping(entry) && typeof entry.uid === 'string' ? entry.uid : '';
    parts.set(node, [...(parts.get(node) ?? []), entry]);
  }
  return parts;
}

export const copyFiles = taskType('copy_files', {
  over: ['agent'],
  does: `Places files whose content is read on the machine that has the sources. It tries every file; if one cannot be
read or placed, the task fails at the end. There are no retries.`,
  parameters: {
    files: list('the files', { src: path('the source'), ...listedFile }),
    ...taskPermissions,
    timeout: amount('seconds', 300),
  },
  limits: ({ timeout }) => uploadLimits(timeout, 0),
  inputs: ({ files }) => files.map(({ src }) => ({ kind: 'source', path: src })),
  rule: ({ files, permissions: own }, place) => checkModes(files, own, place.below('files')),
  examples: [
    {
      parameters: {
        permissions: '0600',
        files: [
          { src: '/srv/example/site.pp', dst: '/srv/example/keys/a' },
          { src: '/srv/example/missing', dst: '/srv/example/keys/b' },
        ],
      },
      result: {
        outcome: 'failed',
        changed: true,
        failure: { kind: 'files', files: [{ path: '/srv/example/missing' }] },
      },
    },
  ],
});

/**
 * The forms of a source in rsync: a daemon's module (two forms), a host over ssh, a local path. Neither user nor host begins
 * with `-`: rsync, or the ssh that it starts, would read an option.
 */
const SOURCES = [
  /^rsync:\/\/[\w[][\w.@[\]:-]*\/[^\n]+$/,
  /^(?:\w[\w.-]*@)?\w[\w.-]*::[^\n]+$/,
  /^(?:\w[\w.-]*@)?\w[\w.-]*:\/(?!\/)[^\n]*$/,
  /^\/[^\n]*$/,
];

export const sync = taskType('sync', {
  over: ['agent'],
  does: `Creates \`dst\` and runs \`rsync -c -r --delete -l\`: compares by checksum, copies links as links, and deletes
extra files. \`changed\` is true if rsync itemizes changes.`,
  parameters: {
    src: operand(
      '`rsync://HOST/MODULE/PATH`, `HOST::MODULE/PATH`, `HOST:/PATH` or `/PATH`',
      undefined,
      (value, place) => {
        if (value !== '' && !SOURCES.some((form) => form.test(value)))
          place.wrong(
            'src is not a valid rsync source',
            'Use rsync://HOST/MODULE/PATH, HOST::MODULE/PATH, HOST:/PATH or /PATH.',
          );
      },
    ),
    dst: path('folder under an allowed root'),
    timeout: amount('seconds for all tries together', 300),
    retries: count('further tries, 2 s apart', 10),
  },
  limits: ({ timeout, retries }) => ({ timeoutSec: timeout, retries, intervalSec: 2, killGraceSec: 5 }),
  examples: [
    {
      needs: 'rsync',
      parameters: { src: '/srv/example/keys/', dst: '/srv/example/copy' },
      result: { outcome: 'success', changed: true, exitCode: 0 },
    },
  ],
});
