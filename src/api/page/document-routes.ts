import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { builtFile } from '../../platform/installation.ts';
import { sendProblem } from '../problems/answer-problem.ts';
import { type Asset, assetOf } from './assets.ts';
import { sendAsset, underPolicy } from './page-routes.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

/** The documents, as `npm run docs:site` builds them, below `/docs`. They are the same for everyone. */
export async function documentRoutes(app: FastifyInstance): Promise<void> {
  const schema = { hide: true };
  const documents = new Documents();

  app.get('/docs', { schema }, (request, reply) => {
    // The links of the page are relative to its folder.
    if (!request.url.startsWith('/docs/')) return reply.redirect('/docs/', 308);
    return show('index.html', request, reply);
  });
  app.get('/docs/*', { schema }, (request, reply) => show((request.params as { '*': string })['*'], request, reply));

  function show(path: string, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const asset = documents.find(path);
    if (asset !== undefined) return sendAsset(request, underPolicy(reply), asset);
    return sendProblem(request, reply, {
      code: 'not-found',
      message: 'the documents have no such page',
      hint: 'Search in them: /docs/',
    });
  }
}

/** Files by the paths that the folder had when the first was asked for: no path of a request reaches the file system. */
class Documents {
  #paths: ReadonlySet<string> | undefined;
  readonly #read = new Map<string, Asset>();

  /** A file, or the page of a path without its ending. */
  find(path: string): Asset | undefined {
    const folder = builtFile('docs');
    this.#paths ??= new Set(
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => extname(file) in TYPES),
    );
    const file = [path, `${path}.html`].find((one) => this.#paths!.has(one));
    if (file === undefined) return undefined;
    const asset = this.#read.get(file) ?? assetOf(TYPES[extname(file)]!, readFileSync(join(folder, file)));
    this.#read.set(file, asset);
    return asset;
  }
}
