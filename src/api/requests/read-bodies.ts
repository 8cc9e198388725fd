import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RequestError } from '../problems/transport-problem.ts';
import { refuseLargeJson } from './json-limits.ts';
import { placeOfMistake } from './json-place.ts';

/** JSON, of UTF-8, neither too deep nor of too many values; and nothing else unless a route group allows it. An empty body counts as none. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async ({ routeOptions }: FastifyRequest, body: Buffer) => {
      const text = decode(body);
      if (text.trim() === '') return undefined;
      refuseLargeJson(text, routeOptions.config.maxValues);
      const value = parse(text);
      if (/__proto__|\\u00/.test(text)) refusePrototypes(value);
      return value;
    },
  );
  app.addHook('onRequest', async (request) => {
    const encoding = request.headers['content-encoding'];
    if (encoding === undefined || encoding === 'identity') return;
    throw new RequestError({
      code: 'unsupported-media-type',
      message: `a body with Content-Encoding '${encoding}' is not supported`,
      hint: 'Send it unencoded.',
    });
  });
}

export const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml', 'text/vnd.yaml'];

/** For routes that take documents: a body of YAML is one file of them, named by the query's `name`. */
export function readYamlBodies(app: FastifyInstance): void {
  app.addContentTypeParser(YAML_TYPES, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const { name } = request.query as { name?: unknown };
    return { files: [{ name: typeof name === 'string' ? name : 'documents.yaml', text: decode(body) }] };
  });
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new RequestError({ code: 'invalid', message: 'the body is not UTF-8', hint: 'Send it encoded as UTF-8.' });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // V8 quotes the place, and quotes all of a text that is short.
    const where = (error as Error).message.replace(/\s+/g, ' ').slice(0, 200);
    const message = `the body is not JSON: ${where}`;
    throw new RequestError({
      code: 'invalid',
      message,
      errors: [{ severity: 'error', code: 'request.json', message, ...placeOfMistake(text) }],
      hint: 'Fix the JSON. Routes that take documents also take YAML: Content-Type: application/yaml.',
    });
  }
}

/** Such a key means nothing to us, and could mean something to code that copies objects. Depth is bounded by now. */
function refusePrototypes(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, '__proto__')) {
    const message = "the body has a key that is not allowed: '__proto__'";
    throw new RequestError({ code: 'invalid', message, hint: 'Remove it.' });
  }
  for (const inner of Object.values(value)) refusePrototypes(inner);
}
