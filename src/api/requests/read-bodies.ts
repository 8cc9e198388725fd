import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RequestError } from '../problems/transport-problem.js';

/** Deeper than anything we take; whoever sends more means harm, or has lost track. */
const DEEPEST = 64;

/** JSON, of UTF-8, not too deep; and nothing else until a route group says so. An empty body is none. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      const text = decode(body as Buffer);
      if (text.trim() === '') {
        done(null, undefined);
        return;
      }
      refuseDeep(text);
      parse(request, text, (error, value) => {
        if (error) done(badJson(text, error));
        else done(null, value);
      });
    } catch (error) {
      done(error as Error);
    }
  });
  app.addHook('onRequest', async (request) => {
    const encoding = request.headers['content-encoding'];
    if (encoding === undefined || encoding === 'identity') return;
    throw new RequestError({
      code: 'unsupported-media-type',
      message: `a body with Content-Encoding '${encoding}' is not understood`,
      hint: 'Send it as it is.',
    });
  });
}

const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml', 'text/vnd.yaml'];

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

function refuseDeep(text: string): void {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i);
    if (character === 0x22) i = endOfString(text, i);
    else if (character === 0x7b || character === 0x5b) {
      depth += 1;
      if (depth > DEEPEST) {
        throw new RequestError({
          code: 'invalid',
          message: `the body is nested more than ${DEEPEST} levels deep`,
          hint: 'Nothing here takes so much: is it the right file?',
        });
      }
    } else if (character === 0x7d || character === 0x5d) depth -= 1;
  }
}

/** Index of the closing quote of the string that opens at `start`, or of the end of the text. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

/** The parser's words differ between releases of Node; where it stopped is what helps. */
function badJson(text: string, error: Error): RequestError {
  const position = /position (\d+)/.exec(error.message)?.[1];
  const place = position === undefined ? '' : ` at ${lineAndColumn(text, Number(position))}`;
  const poisoned = /forbidden prototype/.test(error.message);
  return new RequestError({
    code: 'invalid',
    message: poisoned
      ? 'the body has a key that is not allowed (__proto__ or constructor)'
      : `the body is not JSON${place}`,
    hint: poisoned
      ? 'Leave it out.'
      : 'Mend the JSON. YAML is taken too where documents are: Content-Type: application/yaml.',
  });
}

function lineAndColumn(text: string, position: number): string {
  const before = text.slice(0, position).split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}
