import { HIDDEN, holdsHidden, withoutSecretValues } from '../../core/text/secrets.ts';
import { programVersion } from '../../platform/installation.ts';
import type { ApiClient } from '../shell/client.ts';
import { CliError, type CliProblem, usageError } from '../shell/problem.ts';
import { describeOperation, findOperations, type OperationArguments, operationNamed } from './operations.ts';
import { callOperation, planChange, ShownPlans } from './plans.ts';

/** Versions of the protocol that this server speaks, the newest first. */
const PROTOCOLS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** Answers longer than this are cut: a model reads them all. */
const LONGEST = 60_000;

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly changes: boolean;
  readonly call: (given: Fields) => Promise<unknown>;
}

type Fields = Readonly<Record<string, unknown>>;

interface ServerOptions {
  readonly client: () => Promise<ApiClient>;
  /** Whether changes may be planned and made. */
  readonly allowChanges: boolean;
  readonly now: () => number;
}

/** A message of JSON-RPC; without an id it is a notification. */
interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Fields;
}

const text = { type: 'string' } as const;
const argumentsSchema = {
  operation: { ...text, description: 'Name of the operation, as find_operations tells it.' },
  params: { type: 'object', description: 'The parameters of its path. Names are taken where ids are.' },
  query: { type: 'object', description: 'The parameters of its query.' },
};

function readingTools({ client, allowChanges }: ServerOptions): readonly Tool[] {
  return [
    {
      name: 'find_operations',
      description:
        'Search the operations of Sitewright by words: sites, clusters, nodes, runs, graphs, settings, versions …',
      inputSchema: {
        type: 'object',
        properties: { words: { ...text, description: 'All must match, e.g. "run report".' } },
      },
      changes: false,
      call: async ({ words = '' }) => ({ operations: findOperations(String(words), allowChanges) }),
    },
    {
      name: 'describe_operation',
      description: 'What an operation takes, as JSON Schemas of its params, query and body.',
      inputSchema: { type: 'object', properties: { operation: argumentsSchema.operation }, required: ['operation'] },
      changes: false,
      call: async ({ operation }) => describeOperation(operationNamed(String(operation))),
    },
    {
      name: 'read',
      description: 'Call an operation that only reads, and get its answer.',
      inputSchema: {
        type: 'object',
        properties: { ...argumentsSchema, body: { description: 'Its body; few readings have one.' } },
        required: ['operation'],
      },
      changes: false,
      async call(given) {
        const operation = operationNamed(String(given.operation));
        if (operation.changes)
          throw usageError(
            `${operation.route.id} changes something`,
            allowChanges ? 'Call plan_change.' : 'This server only reads: start it with --allow-changes.',
          );
        return withoutSecretValues(await callOperation(await client(), operation, argumentsIn(given)));
      },
    },
  ];
}

/** A change is made with the digest of its plan. */
function changingTools({ client, now }: ServerOptions): readonly Tool[] {
  const shown = new ShownPlans(now);
  return [
    {
      name: 'plan_change',
      description:
        'Show what an operation would change, without making it. Show the plan to the user; the digest in the answer makes it.',
      inputSchema: {
        type: 'object',
        properties: { ...argumentsSchema, body: { description: 'Its body, as describe_operation tells it.' } },
        required: ['operation'],
      },
      changes: false,
      async call(given) {
        const operation = operationNamed(String(given.operation));
        if (!operation.changes) throw usageError(`${operation.route.id} changes nothing`, 'Call read.');
        if (holdsHidden(given.body))
          throw usageError(
            `the body holds ${HIDDEN} in place of secrets`,
            'Send only what changes, or let a person do it who has the secrets.',
          );
        const plan = await planChange(await client(), operation, argumentsIn(given));
        shown.keep(plan);
        return {
          does: operation.route.summary,
          at: operation.at,
          ...plan.arguments,
          before: withoutSecretValues(plan.preview),
          digest: plan.digest,
        };
      },
    },
    {
      name: 'make_change',
      description:
        'Make the change of a plan that was just shown and that the user wants. Refused if anything has changed since.',
      inputSchema: {
        type: 'object',
        properties: { digest: { ...text, description: 'Of the answer of plan_change.' } },
        required: ['digest'],
      },
      changes: true,
      async call({ digest }) {
        const before = shown.take(String(digest));
        const api = await client();
        const again = await planChange(api, before.operation, before.arguments);
        if (again.digest !== before.digest)
          throw usageError('the plan has changed since it was shown', 'Call plan_change again, and show the new plan.');
        const answer = await callOperation(api, before.operation, before.arguments);
        return { made: before.operation.at, answer: withoutSecretValues(answer) };
      },
    },
  ];
}

/**
 * A server of the Model Context Protocol over the routes of the API: a model finds and reads operations; it changes something
 * only with the digest of a plan that it was shown before, if changes are allowed at all.
 */
export class McpServer {
  readonly #allowChanges: boolean;
  readonly #tools: readonly Tool[];

  constructor(options: ServerOptions) {
    this.#allowChanges = options.allowChanges;
    this.#tools = [...readingTools(options), ...(options.allowChanges ? changingTools(options) : [])];
  }

  /** Answers one message; undefined for notifications. */
  async answer(line: string): Promise<string | undefined> {
    let message: Message;
    try {
      message = JSON.parse(line) as Message;
    } catch {
      return response(null, { error: { code: -32700, message: 'the message is not JSON' } });
    }
    const { id, method, params = {} } = message;
    if (id === undefined || method === undefined) return undefined;
    try {
      return response(id, { result: await this.#answer(method, params) });
    } catch (error) {
      const code = error instanceof RpcError ? error.code : -32603;
      return response(id, { error: { code, message: (error as Error).message } });
    }
  }

  async #answer(method: string, params: Fields): Promise<object> {
    switch (method) {
      case 'initialize': {
        const wanted = String(params.protocolVersion);
        return {
          protocolVersion: PROTOCOLS.includes(wanted) ? wanted : PROTOCOLS[0],
          capabilities: { tools: {} },
          serverInfo: { name: 'sitewright', version: programVersion() },
          instructions: this.#allowChanges
            ? 'Find an operation, read with it. To change something: plan_change, show its plan to the user, then make_change with its digest.'
            : 'Find an operation, read with it. This server changes nothing.',
        };
      }
      case 'ping':
        return {};
      case 'tools/list':
        return {
          tools: this.#tools.map(({ name, description, inputSchema, changes }) => ({
            name,
            description,
            inputSchema,
            annotations: { readOnlyHint: !changes, destructiveHint: changes, openWorldHint: false },
          })),
        };
      case 'tools/call': {
        const tool = this.#tools.find(({ name }) => name === params.name);
        if (tool === undefined) throw new RpcError(-32602, `there is no tool '${String(params.name)}'`);
        try {
          return contentOf(await tool.call((params.arguments ?? {}) as Fields));
        } catch (error) {
          // The model reads what is wrong, and the next step.
          if (error instanceof CliError) return { ...contentOf(refusalOf(error.problem)), isError: true };
          throw error;
        }
      }
      default:
        throw new RpcError(-32601, `there is no method '${method}'`);
    }
  }
}

class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const response = (id: string | number | null, rest: object): string => JSON.stringify({ jsonrpc: '2.0', id, ...rest });

function argumentsIn({ params, query, body }: Fields): OperationArguments {
  const fields = (given: unknown) =>
    typeof given === 'object' && given !== null ? (given as Record<string, string>) : undefined;
  return {
    ...(fields(params) && { params: fields(params) }),
    ...(fields(query) && { query: fields(query) }),
    ...(body !== undefined && { body }),
  };
}

function contentOf(answer: unknown): { content: readonly object[] } {
  const written = typeof answer === 'string' ? answer : JSON.stringify(answer, null, 1);
  const cut =
    written.length <= LONGEST
      ? written
      : `${written.slice(0, LONGEST)}\n… cut: ${written.length} characters. Ask for less: a limit, a filter, or one thing.`;
  return { content: [{ type: 'text', text: cut }] };
}

const refusalOf = ({ code, message, hint, errors }: CliProblem): object => ({
  code,
  message,
  ...(hint && { hint }),
  ...(errors && { errors: errors.slice(0, 20) }),
});
