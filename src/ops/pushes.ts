import { createHmac } from 'node:crypto';
import { given } from '../core/data/given.ts';
import { isMapping } from '../core/data/plain-value.ts';
import { hashOf, matches } from '../platform/secrets/access-token.ts';
import { type SiteRecord, StoreError } from '../store/index.ts';
import type { OpsDependencies } from './dependencies.ts';
import type { RunOperations } from './runs.ts';
import { Service } from './service.ts';

/** A webhook as received. */
interface Push {
  readonly body: Buffer;
  /** `sha256=` and the HMAC of the body, as GitHub and Gitea send it. */
  readonly signature: string | undefined;
  /** The secret itself, as GitLab sends it. */
  readonly token: string | undefined;
}

type PushAnswer =
  | { readonly kind: 'started'; readonly run: string }
  /** It is about another branch, or about no branch. */
  | { readonly kind: 'ignored' }
  /** The same for every reason, so that it reveals nothing about sites. */
  | { readonly kind: 'unsigned' };

export class PushOperations extends Service {
  readonly #runs: Pick<RunOperations, 'start'>;

  constructor(deps: OpsDependencies, runs: Pick<RunOperations, 'start'>) {
    super(deps);
    this.#runs = runs;
  }

  /** Starts `update_site` with `fetch` for a push to the branch that the site follows. @throws `site-busy` */
  async receive(name: string, push: Push): Promise<PushAnswer> {
    const site = await this.store.sites.get(name).catch((error: unknown) => {
      if (error instanceof StoreError && !error.passing) return undefined;
      throw error;
    });
    const secret = await this.#secretOf(site);
    if (secret === undefined || !isSigned(push, secret)) return { kind: 'unsigned' };
    if (refOf(push.body) !== `refs/heads/${site?.source?.branch}`) return { kind: 'ignored' };
    const { holdBefore } = site?.source ?? {};
    const { id } = await this.#runs.start('update_site', {
      site: name,
      fetch: true,
      started_by: 'webhook',
      ...given({ hold_before: holdBefore }),
    });
    return { kind: 'started', run: id };
  }

  async #secretOf(site: SiteRecord | undefined): Promise<string | undefined> {
    const named = site?.source?.webhookSecret;
    const answer = named === undefined ? undefined : await this.deps.secrets?.read(named);
    return answer?.kind === 'found' && answer.value !== '' ? answer.value : undefined;
  }
}

const isSigned = ({ body, signature, token }: Push, secret: string): boolean => {
  if (signature !== undefined)
    return matches(signature, hashOf(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`));
  return token !== undefined && matches(token, hashOf(secret));
};

function refOf(body: Buffer): unknown {
  try {
    const sent: unknown = JSON.parse(body.toString('utf8'));
    return isMapping(sent) ? sent.ref : undefined;
  } catch {
    return undefined;
  }
}
