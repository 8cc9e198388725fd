import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { given } from '../../core/data/given.ts';
import { printPath } from '../../core/data/plain-value.ts';
import { type Diagnostic, isError } from '../../core/problems/diagnostic.ts';
import { SetupError } from '../../core/problems/refusal.ts';
import { allowedPath, runsAnyScript, typesOver } from '../../core/task-types/index.ts';
import { placeProblem } from '../../documents/diagnostics/place-problem.ts';
import {
  checkSchema,
  DOCUMENT_WORDS,
  type SchemaProblem,
  type SchemaWords,
} from '../../documents/diagnostics/schema-problems.ts';
import { parseYaml } from '../../documents/yaml-document.ts';
import { type Execution, type NodeAgentOptions, prepareTask } from '../index.ts';

/** The tasks a node accepts. It is the node's own file: nothing from outside changes it. */
export interface NodePolicy {
  /** Task types that run here. Absent: all. */
  readonly types?: readonly string[];
  /** Folders below which files may be placed. Absent: the agent's default. */
  readonly path_roots?: readonly string[];
  /**
   * Arbitrary scripts: `deny` refuses them, `signed` requires a signed order, `allow` also runs them from unsigned
   * orders (a single trusted machine). Default `signed`.
   */
  readonly shell: 'deny' | 'signed' | 'allow';
  /** Maximum number of seconds for a task, including all its tries. Absent: the node sets no limit. */
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

type PolicyReading =
  | { readonly ok: true; readonly policy: NodePolicy }
  | { readonly ok: false; readonly problems: readonly Diagnostic[] };

/**
 * Reads a policy (YAML or JSON). Reports all problems, each with its position. An empty file is the default
 * policy.
 */
export function readPolicy(text: string, file?: string): PolicyReading {
  const parsed = parseYaml(text, given({ file }));
  const problems = parsed.diagnostics.filter(isError);
  const [document, second] = parsed.documents.filter(({ empty }) => !empty);
  const named = given({ file });
  if (second !== undefined)
    problems.push({
      severity: 'error',
      code: 'policy.several-documents',
      message: 'a policy must be a single document',
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
  path_roots: 'Give a list of folders, e.g. [/etc, /srv].',
  shell: 'One of deny, signed, allow.',
  max_timeout: 'Give seconds, e.g. 3600.',
  policy: 'Write rules, e.g. `shell: deny`.',
};

/** Reads the policy file; without one, the default policy holds. */
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

/**
 * The policy of a process that is to start.
 *
 * @param name of the policy, in messages
 * @throws SetupError if it cannot be read
 */
export function usablePolicy(path: string, name = 'the policy'): NodePolicy {
  const reading = loadPolicy(path);
  if (reading.ok) return reading.policy;
  throw new SetupError('policy', `${name} is not usable: ${reading.problems.map(({ message }) => message).join('; ')}`);
}

/**
 * The policy of this machine for an agent with unsigned orders, which whoever has the store starts here.
 *
 * @param named a file to apply instead of the machine's own
 * @returns undefined if the machine has none: then it accepts scripts, too
 * @throws SetupError if it cannot be read
 */
export function machinePolicy(named?: string, own = '/etc/sitewright/policy.yaml'): NodePolicy | undefined {
  if (named !== undefined) return usablePolicy(named);
  return existsSync(own) ? usablePolicy(own, 'the policy of this machine') : undefined;
}

/** The part of a policy that the agent itself enforces. */
export function agentOptionsOf(policy: NodePolicy): Pick<NodeAgentOptions, 'allowedTypes' | 'pathRoots'> {
  const types = (policy.types ?? taskTypeNames).filter((type) => policy.shell !== 'deny' || !runsAnyScript(type));
  const restricts = policy.types !== undefined || policy.shell === 'deny';
  return {
    ...(restricts ? { allowedTypes: types } : {}),
    ...given({ pathRoots: policy.path_roots }),
  };
}

/**
 * Why the policy forbids an execution; undefined if it allows it. For callers that accept orders, before starting them.
 *
 * @param isSigned whether a signed order for the execution was verified
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
  // The agent refuses parameters that cannot be read, and reports all their problems.
  if (!prepared.ok) return undefined;
  const { timeoutSec, timeoutCovers, retries, intervalSec } = prepared.task.limits;
  const whole = timeoutCovers === 'all-tries' ? timeoutSec : timeoutSec * (retries + 1) + intervalSec * retries;
  const seconds = Math.min(whole, execution.deadlineSec ?? whole);
  return seconds <= most
    ? undefined
    : `the task may take ${seconds} s, and the policy of this node allows ${most} s; set a shorter timeout`;
}
