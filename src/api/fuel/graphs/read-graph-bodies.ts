import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Diagnostic } from '../../../core/diagnostic.js';
import { isError } from '../../../core/diagnostic.js';
import { parseYaml, type YamlDocument } from '../../../documents/index.js';
import type { GraphSource } from '../../../ops/index.js';
import { RequestError } from '../../problems/transport-problem.js';
import { YAML_TYPES } from '../../requests/read-bodies.js';

/** A graph that came as YAML, with the places of what stands in it. */
class YamlGraph {
  readonly source: GraphSource;

  constructor(document: YamlDocument) {
    this.source = { body: document.value, place: (path) => document.place([...path]) };
  }
}

/** For routes that take graphs: a body of YAML is read as its JSON would be, and its problems are reported by line. */
export function readYamlGraphs(app: FastifyInstance): void {
  app.addContentTypeParser(YAML_TYPES, { parseAs: 'string' }, async (_request: FastifyRequest, text: string) => {
    const { documents, diagnostics } = parseYaml(text);
    const errors = diagnostics.filter(isError);
    if (errors.length > 0) throw refused(errors[0]!.message, errors);
    const given = documents.filter(({ empty }) => !empty);
    if (given.length > 1) throw refused(`the body has ${given.length} YAML documents`, []);
    const [document] = given;
    return document === undefined ? undefined : new YamlGraph(document);
  });
}

const refused = (message: string, errors: readonly Diagnostic[]) =>
  new RequestError({
    code: 'invalid',
    message: `the body is not a graph: ${message}`,
    hint: errors[0]?.hint ?? 'Send one graph in one YAML document.',
    ...(errors.length === 0 ? {} : { errors }),
  });

/** What a request brought. */
export const sourceOf = (body: unknown): GraphSource => (body instanceof YamlGraph ? body.source : { body });

/** Routes with `config: needsBody` refuse a request without one: nothing sent is not an empty graph. */
export function refuseEmptyBodies(app: FastifyInstance): void {
  app.addHook('preValidation', async (request) => {
    const { needsBody } = request.routeOptions.config as { readonly needsBody?: boolean };
    if (!needsBody || request.body !== undefined) return;
    throw new RequestError({ code: 'invalid', message: 'Empty request received', hint: 'Send a body, at least {}.' });
  });
}

/** For `config` of a route. */
export const needsBody = { needsBody: true };
