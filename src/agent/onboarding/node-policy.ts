import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type Diagnostic, isError } from '../../core/diagnostic.js';
import { printPath } from '../../core/plain-value.js';
import { allowedPath, runsAnyScript, typesOver } from '../../core/task-types/index.js';
import {
  checkSchema,
  DOCUMENT_WORDS,
  parseYaml,
  placeProblem,
  type SchemaProblem,
  type SchemaWords,
} from '../../documents/index.js';
import { type Execution, type NodeAgentOptions, prepareTask } from '../index.js';

/** What a node lets itself be told. It is the node's own file: nothing that comes from outside changes it. */
export interface NodePolicy {
  /** Task types that run here. Absent: all. */
  readonly types?: readonly string[];
  /** Folders below which files may be placed. Absent: the agent's usual ones. */
  readonly path_roots?: readonly string[];
  /**
   * Scripts of any content: `deny` refuses them, `signed` wants a signed order, `allow` runs
   * them also where orders are not signed (SSH, one trusted machine). Default `signed`.
   */
  readonly shell: 'deny' | 'signed' | 'allow';
  /** Most seconds a task may take, all its tries together. Absent: no limit of the node's own. */
  readonly max_timeout?: number;
}

export const DEFAULT_POLICY: NodePolicy = { shell: 'signed' };

const taskTypeNames = typesOver('agent');

const policySchema = z.strictObject({
  types: z.array(z.enum(taskTypeNames)).optional(),
  path_roots: z
    .array(z.string().refine((path) => allowedPath(path) === undefined, 'must be an absolute path without . and ..'))
    .optional(),
  shell: z.enum(['deny', 'signed', 'allow']).default('signed'),
  max_timeout: z.number().positive().optional(),
});

export type PolicyReading =
  | { readonly ok: true; readonly policy: NodePolicy }
  | { readonly ok: false; readonly problems: readonly Diagnostic[] };

/** Reads a policy (YAML or JSON): all that is wrong at once, each with its place. An empty file is the default. */
export function readPolicy(text: string, file?: string): PolicyReading {
  const parsed = parseYaml(text, file === undefined ? {} : { file });
  const problems = parsed.diagnostics.filter(isError);
  const [document, second] = parsed.documents.filter(({ empty }) => !empty);
  const named = file === undefined ? {} : { file };
  if (second !== undefined)
    problems.push({
      severity: 'error',
      code: 'policy.several-documents',
      message: 'a policy is one document',
      ...named,
    });
  if (problems.length > 0) return { ok: false, problems };
  if (document === undefined) return { ok: true, policy: DEFAULT_POLICY };
  const read = checkSchema(policySchema, document.value, { words: POLICY_WORDS });
  if (read.ok) return { ok: true, policy: read.value as NodePolicy };
  const hintOf = ({ hint, path }: SchemaProblem) => hint ?? HINTS[String(path[0])] ?? HINTS.policy;
  return { ok: false, problems: read.problems.map((one) => placeProblem(document, { ...one, hint: hintOf(one) })) };
}

const BAD_VALUE = 'policy.bad-value';

const POLICY_WORDS: SchemaWords = {
  ...DOCUMENT_WORDS,
  codes: {
    missing: BAD_VALUE,
    'wrong-type': BAD_VALUE,
    'wrong-value': BAD_VALUE,
    unknown: 'policy.unknown-key',
    more: BAD_VALUE,
  },
  nameOf: (path) => printPath(path) || 'the policy',
};

const HINTS: Readonly<Record<string, string>> = {
  types: `The types are ${taskTypeNames.join(', ')}.`,
  path_roots: 'Give a list of folders, as [/etc, /srv].',
  shell: 'One of deny, signed, allow.',
  max_timeout: 'Seconds, as 3600.',
  policy: 'Write rules, as `shell: deny`.',
};

/** The policy of a file; the default when there is none. */
export function loadPolicy(path: string): PolicyReading {
  try {
    return readPolicy(readFileSync(path, 'utf8'), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { ok: true, policy: DEFAULT_POLICY };
    const message = `the policy cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`;
    return {
      ok: false,
      problems: [
        { severity: 'error', code: 'policy.unreadable', message, hint: 'Correct its permissions.', file: path },
      ],
    };
  }
}

/** What of a policy the agent itself enforces. */
export function agentOptionsOf(policy: NodePolicy): Pick<NodeAgentOptions, 'allowedTypes' | 'pathRoots'> {
  const types = (policy.types ?? taskTypeNames).filter((type) => policy.shell !== 'deny' || !runsAnyScript(type));
  const restricts = policy.types !== undefined || policy.shell === 'deny';
  return {
    ...(restricts ? { allowedTypes: types } : {}),
    ...(policy.path_roots === undefined ? {} : { pathRoots: policy.path_roots }),
  };
}

/**
 * Why the policy forbids an execution; undefined when it does not. For whoever accepts orders, before they start.
 *
 * @param isSigned whether a signed order for it was verified
 */
export function policyRefusal(policy: NodePolicy, execution: Execution, isSigned: boolean): string | undefined {
  const { type } = execution;
  if (runsAnyScript(type)) {
    if (policy.shell === 'deny') return 'the policy of this node forbids scripts';
    if (policy.shell === 'signed' && !isSigned) return 'the policy of this node runs scripts of signed orders only';
  }
  if (policy.types !== undefined && !policy.types.includes(type))
    return `the policy of this node forbids tasks of type ${type}`;
  const { max_timeout: most } = policy;
  if (most === undefined) return undefined;
  const prepared = prepareTask(execution);
  // What cannot be read is refused by the agent, with all its problems.
  if (!prepared.ok) return undefined;
  const { timeoutSec, timeoutCovers, retries, intervalSec } = prepared.task.limits;
  const whole = timeoutCovers === 'all-tries' ? timeoutSec : timeoutSec * (retries + 1) + intervalSec * retries;
  const seconds = Math.min(whole, execution.deadlineSec ?? whole);
  return seconds <= most
    ? undefined
    : `the task may take ${seconds} s, and the policy of this node allows ${most} s; set a shorter timeout`;
}
