import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isMapping } from '../../core/data/plain-value.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import type { ExecutionKey } from '../../core/task-on-node.ts';
import { compareKeys } from '../../core/text/text.ts';

/** A secret the task may use, by reference; its value never enters the journal. */
export interface SecretUse {
  /** Name of the variable, or of the file in the folder that `SITEWRIGHT_SECRETS` names. */
  readonly name: string;
  readonly ref: string;
  readonly as: 'environment' | 'file';
}

/** One task to execute on one node; the journal keeps it as the intent. */
export interface Execution extends ExecutionKey {
  /**
   * Digest of the plan that the order is part of, and so of the order. The agent adds it, to recognise the order again.
   */
  readonly plan?: string;
  /** The runs that this one continues, newest first, if the task did not succeed there as far as they know. */
  readonly earlier?: readonly string[];
  /** Name of a registered task type. */
  readonly type: string;
  /** As docs/reference/task-types.md describes them for the type. Values `{secret: REF}` are allowed where that page permits them. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** `noop` changes nothing on the node. Default `apply`. */
  readonly mode?: 'apply' | 'noop';
  /** Asks the runner for more detail (puppet `--debug`). */
  readonly debug?: boolean;
  /** Upper limit in seconds for everything including retries; the task's own timeout may be shorter. */
  readonly deadlineSec?: number;
  /** Seconds between TERM and KILL. Default: the type's. */
  readonly killGraceSec?: number;
  /** One try only: the caller does the retries, each as a new generation. */
  readonly singleTry?: boolean;
  /** Bytes kept of each output stream. Default 16 MiB. */
  readonly outputLimitBytes?: number;
  readonly secrets?: readonly SecretUse[];
}

/**
 * Encodes text as one folder name. Letters, digits, `-`, `_` and inner dots stay; every other byte becomes `=XX`, so
 * that two names never share a folder and none escapes its parent. Long names end in a hash.
 */
export function folderName(text: string): string {
  const name = [...Buffer.from(text, 'utf8')]
    .map((byte, at) => {
      const char = String.fromCharCode(byte);
      return /[A-Za-z0-9_-]/.test(char) || (char === '.' && at > 0)
        ? char
        : `=${byte.toString(16).padStart(2, '0').toUpperCase()}`;
    })
    .join('');
  if (name.length <= 120) return name === '' ? '=' : name;
  return `${name.slice(0, 80)}=-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}

export const nodeFolder = (stateDir: string, node: string): string => join(stateDir, 'nodes', folderName(node));

/** The folder that holds an execution's journal and output. */
export function executionFolder(stateDir: string, key: ExecutionKey): string {
  return join(
    nodeFolder(stateDir, key.node),
    'runs',
    folderName(key.run),
    folderName(key.task),
    String(key.generation),
  );
}

/** RUN/TASK/GENERATION of an execution's folder, for people. */
export const executionIn = (folder: string): string =>
  folder
    .split('/')
    .slice(-3)
    .map((name) =>
      name.replace(/(?:=[0-9A-F]{2})+/g, (bytes) => Buffer.from(bytes.replaceAll('=', ''), 'hex').toString()),
    )
    .join('/');

/** Short name that identifies the processes, cgroup and scratch folder of an execution. */
export const executionMark = (folder: string): string => createHash('sha256').update(folder).digest('hex').slice(0, 24);

/** JSON with sorted keys: equal executions give equal text. */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isMapping(inner) ? Object.fromEntries(Object.entries(inner).sort(compareKeys)) : inner,
  );
}

/** Whether two executions order the same work, even by different plans. */
export const isSameOrder = ({ plan: _, ...one }: Execution, { plan: __, ...other }: Execution): boolean =>
  stableJson(one) === stableJson(other);

/** Whether JSON has the parts of an execution that identify it. */
export const isExecution = (value: unknown): value is Execution =>
  isMapping(value) &&
  [value.run, value.task, value.node, value.type].every((part) => typeof part === 'string') &&
  Number.isSafeInteger(value.generation) &&
  isMapping(value.parameters);

/** Checks everything of an execution except its parameters, which its type checks. */
export function checkExecution(execution: Execution): Diagnostic[] {
  const found: Diagnostic[] = [];
  const wrong = (path: string, message: string, hint: string) =>
    found.push({ severity: 'error', code: 'execution.invalid', message, hint, path });
  for (const name of ['run', 'task', 'node', 'type'] as const) {
    const text: unknown = execution[name];
    if (typeof text !== 'string' || text === '' || text.length > 1000)
      wrong(name, `${name} must be text of 1 to 1000 characters`, 'Give the name the plan has.');
  }
  if (!Number.isSafeInteger(execution.generation) || execution.generation < 1)
    wrong('generation', 'generation must be an integer from 1', 'The first try of a task is generation 1.');
  if (!isMapping(execution.parameters))
    wrong('parameters', 'parameters must be an object', 'Give {} for a task without parameters.');
  if (execution.mode !== undefined && execution.mode !== 'apply' && execution.mode !== 'noop')
    wrong('mode', 'mode must be apply or noop', 'Omit it to apply.');
  for (const name of ['deadlineSec', 'killGraceSec', 'outputLimitBytes'] as const) {
    const value: unknown = execution[name];
    if (value !== undefined && !(typeof value === 'number' && Number.isFinite(value) && value >= 0))
      wrong(name, `${name} must be a number from 0`, 'Omit it for the default of the task type.');
  }
  const secrets: unknown = execution.secrets ?? [];
  if (!Array.isArray(secrets)) wrong('secrets', 'secrets must be a list', 'Each entry has name, ref and as.');
  else
    secrets.forEach((secret: Partial<SecretUse> | null, at) => {
      if (!/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(String(secret?.name)))
        wrong(`secrets[${at}].name`, 'the name of a secret is letters, digits and _', 'Rename it.');
      if (typeof secret?.ref !== 'string' || secret.ref === '')
        wrong(`secrets[${at}].ref`, 'ref must name the secret', 'Give the reference, not the value.');
      if (secret?.as !== 'environment' && secret?.as !== 'file')
        wrong(`secrets[${at}].as`, 'as must be environment or file', 'Prefer file.');
    });
  return found;
}
