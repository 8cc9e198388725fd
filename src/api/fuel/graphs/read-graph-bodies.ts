import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { GraphSource } from '../../../ops/index.ts';
import { RequestError } from '../../problems/transport-problem.ts';
import { YAML_TYPES } from '../../requests/read-bodies.ts';

/** A graph sent as YAML. */
class YamlGraph {
  readonly yaml: string;

  constructor(yaml: string) {
    this.yaml = yaml;
  }
}

/** For routes that take graphs: a body of YAML is read as its JSON would be, and its problems are reported by line. */
export function readYamlGraphs(app: FastifyInstance): void {
  app.addContentTypeParser(YAML_TYPES, { parseAs: 'string' }, async (_request: FastifyRequest, text: string) =>
    text.trim() === '' ? undefined : new YamlGraph(text),
  );
}

/** Content of a request. */
export const sourceOf = (body: unknown): GraphSource => (body instanceof YamlGraph ? { yaml: body.yaml } : { body });

/** Routes with `config: needsBody` refuse a request without one: nothing sent is not an empty graph. */
export function refuseEmptyBodies(app: FastifyInstance): void {
  app.addHook('preValidation', async (request) => {
    const { needsBody } = request.routeOptions.config as { readonly needsBody?: boolean };
    if (!needsBody || request.body !== undefined) return;
    throw new RequestError({ code: 'invalid', message: 'Empty request received', hint: 'Send a body, at least {}.' });
  });
}
