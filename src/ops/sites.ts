import { notInDocuments } from '../clusters/named-in-documents.ts';
import { checksOfSite } from '../clusters/package-checks.ts';
import { commitRevision, isNameAlone } from '../clusters/site-machines.ts';
import type { SiteDifference, Strategy } from '../core/contracts/strategy.ts';
import { given } from '../core/data/given.ts';
import { OUT_OF_SERVICE, type OutOfServiceNodes, outOfServiceNodes, outOfServiceOf } from '../core/node-system.ts';
import { type Diagnostic, isError } from '../core/problems/diagnostic.ts';
import type { SiteRunInput } from '../core/site-run/input.ts';
import type { GitSource } from '../core/sources/git-source.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import type { LoadedSite, RenderedSite, ResolvedSite, SourceFile } from '../documents/index.ts';
import { StepTimes } from '../runs/step-times.ts';
import {
  type NodeRecord,
  type Page,
  type PageRequest,
  parseRevisionReference,
  type RevisionRecord,
  type RevisionReference,
  type SiteRecord,
  type Store,
  StoreError,
} from '../store/index.ts';
import { invalidInput, problem } from './problem.ts';
import { busyProblem } from './refusal.ts';
import { Service } from './service.ts';
import { compareSites } from './site-difference.ts';
import { viewStrategy } from './strategy.ts';

/** The result of checking documents. */
interface DocumentCheck {
  readonly valid: boolean;
  readonly diagnostics: readonly Diagnostic[];
  readonly nodes: number;
  readonly groups: number;
}

interface CommitRequest {
  readonly files: readonly SourceFile[];
  /** Store the revision even with errors; it cannot be deployed then. */
  readonly force?: boolean;
  /** Only report. */
  readonly dry_run?: boolean;
  readonly author?: string;
  readonly message?: string;
}

interface CommitAnswer extends DocumentCheck {
  /** Null for a dry run. */
  readonly revision: RevisionRecord | null;
  /** False when the documents equal the latest revision. */
  readonly created: boolean;
}

export class SiteOperations extends Service {
  readonly #times = new StepTimes(this.store);

  async create(request: { readonly name: string; readonly cluster?: string }, actor: string): Promise<SiteView> {
    const site = await this.store.sites.create(request);
    await this.audit(actor, 'site.create', `site/${site.name}`);
    return this.#viewOf(site);
  }
  async list(): Promise<readonly SiteView[]> {
    const [sites, nodes] = await Promise.all([this.store.sites.list(), this.store.nodes.list()]);
    return sites.map((site) => ({
      ...site,
      outOfService: outOfService(nodes.filter((one) => one.site === site.name)),
    }));
  }
  async get(name: string): Promise<SiteView> {
    return this.#viewOf(await this.store.sites.get(name));
  }
  async delete(name: string, actor: string): Promise<void> {
    const entered = (await this.store.nodes.list({ site: name })).filter(isNameAlone);
    await this.store.sites.delete(name).catch(async (error: unknown) => {
      throw await busyProblem(this.deps, name, error);
    });
    for (const { id } of entered) await this.store.nodes.delete(id);
    await this.audit(actor, 'site.delete', `site/${name}`);
  }
  /** Has the site follow a branch; null: none any more. */
  async follow(name: string, source: GitSource | null, actor: string): Promise<SiteView> {
    const site = await this.store.sites.setSource(name, source);
    const details = source === null ? {} : { url: source.url, branch: source.branch };
    const action = source === null ? 'site.unfollow' : 'site.follow';
    await this.store.audit.append({ actor, action, target: `site/${name}`, details });
    return this.#viewOf(site);
  }
  async check(files: readonly SourceFile[]): Promise<DocumentCheck> {
    return checkOf(await this.#load(files));
  }
  async commit(site: string, request: CommitRequest): Promise<CommitAnswer> {
    await this.store.sites.get(site);
    const loaded = await this.#load(request.files);
    const check = checkOf(loaded);
    if (request.dry_run) return { ...check, revision: null, created: false };
    if (!check.valid && !request.force) {
      const errors = check.diagnostics.filter(isError).length;
      throw problem(
        'invalid',
        `the documents have ${errors === 1 ? 'an error' : `${errors} errors`}; nothing was stored`,
        {
          hint: 'Correct them, or store them with errors by --force (API: "force": true); such a revision cannot be deployed.',
          errors: check.diagnostics,
        },
      );
    }
    const { revision, created } = await commitRevision(this.store, site, {
      files: request.files,
      resolved: loaded.site ?? null,
      diagnostics: check.diagnostics,
      ...given({ author: request.author, message: request.message }),
    });
    if (created)
      await this.audit(request.author ?? 'unknown', 'site.commit', `site/${site}/revisions/${revision.number}`);
    return { ...check, revision, created };
  }
  revisions(site: string, page?: PageRequest): Promise<Page<RevisionRecord>> {
    return this.store.sites.listRevisions(site, page);
  }
  revision(site: string, reference: string): Promise<RevisionRecord & { readonly files: readonly SourceFile[] }> {
    return this.store.sites.getRevision(site, parseReference(reference));
  }
  /** The documents of a revision as Deckhand would give them out. */
  async rendered(
    site: string,
    reference: string,
  ): Promise<{
    readonly record: RevisionRecord;
    readonly documents: NonNullable<RenderedSite['documents']>;
  }> {
    const record = await this.store.sites.getRevision(site, parseReference(reference));
    const { documents, diagnostics } = await this.reader.rendered(record.files);
    if (documents) return { record, documents };
    throw problem('invalid', `revision ${record.number} of site ${site} cannot be rendered`, {
      hint: 'Commit corrected documents.',
      errors: diagnostics.filter(isError),
    });
  }
  /** What the documents of a valid revision mean, as they were resolved when they were stored. */
  async documents(
    site: string,
    reference: string,
  ): Promise<{
    readonly record: RevisionRecord;
    readonly site: ResolvedSite;
  }> {
    const { record, site: resolved } = await this.store.sites.resolvedRevision(site, parseReference(reference));
    if (resolved === null) {
      throw problem('invalid', `revision ${record.number} of site ${site} has errors`, {
        hint: 'Commit corrected documents.',
        errors: record.diagnostics.filter(isError),
      });
    }
    return { record, site: resolved };
  }
  /** How its nodes are deployed group by group, and how long that took on their hardware. */
  async strategy(site: string, reference: string): Promise<Strategy> {
    const { site: resolved } = await this.documents(site, reference);
    const names = resolved.nodes.map(({ name }) => name);
    const times = await this.#times.of(site, names);
    return { ...viewStrategy(resolved), ...(times.length > 0 && { times: [...times] }) };
  }
  /** @throws `not-found` with a suggestion for a node that the latest documents do not have */
  async checkNode(site: string, node: string): Promise<void> {
    await this.store.sites.get(site);
    const documents = await this.documents(site, 'latest').catch(() => undefined);
    const names = documents?.site.nodes.map(({ name }) => name) ?? [];
    if (names.includes(node)) return;
    throw problem('not-found', `site ${site} has no node '${node}' in its latest documents`, {
      hint: `${didYouMean(node, names) ?? ''} 'sitewright node select ${site}' lists its nodes.`.trim(),
    });
  }
  /**
   * The differences between a revision and another one.
   *
   * @param since reference of the other one; `last-good` before the first deployment compares with nothing
   */
  async difference(site: string, reference: string, since: string): Promise<Omit<SiteDifference, 'site'>> {
    const { lastGoodRevision } = await this.store.sites.get(site);
    const after = await this.documents(site, reference);
    const isFirst = since === 'last-good' && lastGoodRevision === null;
    const before = isFirst ? null : await this.documents(site, since);
    return {
      ...compareSites(before?.site ?? null, after.site),
      revision: after.record.number,
      since: before?.record.number ?? null,
    };
  }

  async #viewOf(site: SiteRecord): Promise<SiteView> {
    return {
      ...site,
      outOfService: outOfService(await this.store.nodes.list({ site: site.name })),
    };
  }

  async #load(files: readonly SourceFile[]): Promise<LoadedSite> {
    if (files.length === 0)
      throw problem('invalid', 'there are no documents', { hint: 'Give at least one YAML file.' });
    return this.reader.site(files);
  }
}

/** A site with those of its machines that do not serve. */
type SiteView = SiteRecord & { readonly outOfService: readonly OutOfServiceNodes[] };

const outOfService = (nodes: readonly NodeRecord[]): readonly OutOfServiceNodes[] =>
  OUT_OF_SERVICE.flatMap((state) =>
    outOfServiceNodes(
      state,
      nodes.filter((node) => outOfServiceOf(node) === state).map(({ name }) => name),
    ),
  );

const checkOf = ({ site, diagnostics }: LoadedSite): DocumentCheck => ({
  valid: site !== undefined,
  diagnostics,
  nodes: site?.nodes.length ?? 0,
  groups: site?.groups.length ?? 0,
});

/**
 * Refuses a run that names a site, nodes, groups or checks that do not exist. Documents that are yet to be fetched, or that no one can
 * read yet, are left to the run.
 * @throws `not-found`, `invalid` with a suggestion
 */
export async function checkNames(
  store: Store,
  { site, revision = 'latest', fetch, nodes, hold_before, adopt, checks }: SiteRunInput,
): Promise<void> {
  await store.sites.get(site);
  if (fetch || (nodes ?? hold_before ?? adopt ?? checks) === undefined) return;
  const read = await store.sites.resolvedRevision(site, parseReference(String(revision))).catch((error: unknown) => {
    // The run says why there is no such revision.
    if (error instanceof StoreError && ['not-found', 'conflict'].includes(error.failure.kind)) return undefined;
    throw error;
  });
  if (read?.site == null) return;
  const known =
    checks === undefined ? read.site : { ...read.site, checks: await checksOfSite(store, site, read.site.checks) };
  const missing = notInDocuments({ nodes, hold_before, adopt, checks }, known);
  if (missing?.kind === 'holds-not-found' || missing?.kind === 'checks-not-found') throw invalidInput(missing.problems);
  if (missing === null) return;
  const names = read.site.nodes.map(({ name }) => name);
  throw problem('invalid', `revision ${read.record.number} of site ${site} has no node ${missing.nodes.join(', ')}`, {
    hint:
      missing.nodes.flatMap((name) => didYouMean(name, names) ?? []).join(' ') ||
      `'sitewright node select ${site} --revision ${read.record.number}' lists its nodes.`,
  });
}

export function parseReference(text: string): RevisionReference {
  const reference = parseRevisionReference(text);
  if (reference === undefined) {
    throw problem('invalid', `'${text}' is not a revision`, {
      hint: 'Use a number, at least seven digits of a hash, latest or last-good.',
    });
  }
  return reference;
}
