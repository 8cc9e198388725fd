import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { ABSENT_OF_FUEL } from '../fuel/absent.ts';
import { pathOf, sendProblem } from '../problems/answer-problem.ts';

interface KnownPath {
  readonly segments: readonly string[];
  readonly methods: Set<string>;
}

/**
 * Answers requests without a route: features of Fuel that we lack (410, with the alternative), an unsupported method
 * (405), or an unknown path (404).
 *
 * @param showPage answers a browser: the page reports that there is nothing
 */
export function answerUnknownRoutes(
  app: FastifyInstance,
  showPage: (request: FastifyRequest, reply: FastifyReply) => FastifyReply,
): void {
  const known = new Map<string, KnownPath>();
  app.addHook('onRoute', ({ url, method, schema }) => {
    if ((schema as { hide?: boolean } | undefined)?.hide && !/^\/(health|openapi)/.test(url)) return;
    const path = known.get(url) ?? { segments: segmentsOf(url), methods: new Set<string>() };
    for (const one of [method].flat()) path.methods.add(one.toUpperCase());
    known.set(url, path);
  });

  app.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) => {
    const path = pathOf(request.url);
    const segments = segmentsOf(path);
    const absent = ABSENT.find(
      (one) => (one.methods?.includes(request.method) ?? true) && one.paths.some((known) => fits(known, segments)),
    );
    if (absent !== undefined) {
      const { reason, instead } = absent;
      // Fuel's clients show nothing but the message.
      return sendProblem(request, reply, {
        code: 'not-offered',
        message: `${reason}; instead, ${instead}`,
        hint: instead,
      });
    }
    const methods = [...known.values()]
      .filter((one) => fits(one.segments, segments))
      .flatMap((one) => [...one.methods]);
    if (methods.length > 0) {
      const allow = [...new Set([...methods, 'OPTIONS'])].sort().join(', ');
      void reply.header('allow', allow);
      if (request.method === 'OPTIONS') return reply.code(204).send();
      return sendProblem(request, reply, {
        code: 'method-not-allowed',
        message: `${path} does not support ${request.method}`,
        hint: `Supported: ${allow}.`,
      });
    }
    if (isOfBrowser(request, segments)) return showPage(request, reply.code(404));
    return sendProblem(request, reply, {
      code: 'not-found',
      message: `there is nothing at ${path}`,
      hint:
        suggestion(segments, [...known.values()]) ?? 'GET /openapi.json describes all routes; /docs/api shows them.',
    });
  });
}

const isOfBrowser = ({ method, headers }: FastifyRequest, [first = '']: readonly string[]): boolean =>
  method === 'GET' && (headers.accept ?? '').includes('text/html') && !/^(api|assets|docs|health|openapi)/.test(first);

const segmentsOf = (path: string): string[] => path.split('/').filter((segment) => segment !== '');

const fits = (segments: readonly string[], asked: readonly string[]): boolean =>
  (segments.length === asked.length || (segments.at(-1) === '*' && asked.length >= segments.length)) &&
  segments.every((one, index) => one.startsWith(':') || one === '*' || one === asked[index]);

const ABSENT = ABSENT_OF_FUEL.map(({ paths, ...one }) => ({ ...one, paths: paths.map(segmentsOf) }));

/** The nearest path, with the names the user gave in it. */
function suggestion(asked: readonly string[], known: readonly KnownPath[]): string | undefined {
  if (asked.join('/').length > 200) return undefined;
  const candidates = known.flatMap(({ segments }) => {
    const shifts = segments[0] === 'api' && asked[0] !== 'api' ? [segments.slice(0, 2), []] : [[]];
    return shifts
      .map((before) => [...before, ...asked])
      .filter((given) => given.length === segments.length)
      .map((given) => segments.map((one, index) => (one.startsWith(':') ? given[index]! : one)).join('/'));
  });
  const written = asked.join('/');
  const exact = candidates.find((candidate) => candidate === `api/v1/${written}`);
  if (exact !== undefined) return `Did you mean '/${exact}'?`;
  return didYouMean(`/${written}`, new Set(candidates.map((candidate) => `/${candidate}`)), 4);
}
