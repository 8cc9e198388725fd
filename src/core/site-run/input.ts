import { checkRunDescription, type RunDescription } from '../run-description.js';

/** The four workflows that act on a site; also the `kind` of a run. */
export type SiteRunKind = 'deploy_site' | 'update_site' | 'redeploy_nodes' | 'test_site';

export const SITE_RUN_KINDS = [
  'deploy_site',
  'update_site',
  'redeploy_nodes',
  'test_site',
] as const satisfies readonly SiteRunKind[];

/** Input of all four: one JSON object (design §5). Every field but `site` (and `nodes` of `redeploy_nodes`) is optional. */
export interface SiteRunInput extends RunDescription {
  readonly site: string;
  /** Number, hash (or its unique beginning), or `latest` (default). */
  readonly revision?: string | number;
  readonly started_by?: string;
  readonly reason?: string;
  /** update_site: also release the machines of nodes that are gone from the documents. Default false. */
  readonly release_removed?: boolean;
  /** redeploy_nodes: the nodes to release and deploy again. */
  readonly nodes?: readonly string[];
  /** redeploy_nodes: also erase the disks on release. Default false. */
  readonly erase?: boolean;
}

export type ParsedInput =
  | { readonly ok: true; readonly input: SiteRunInput }
  | { readonly ok: false; readonly problems: readonly string[] };

type Check = (value: unknown) => string | null;

const text: Check = (value) => (typeof value === 'string' && value.trim() !== '' ? null : 'must be a non-empty text');
const flag: Check = (value) => (typeof value === 'boolean' ? null : 'must be true or false');
const revision: Check = (value) =>
  (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) ||
  (typeof value === 'string' && value.trim() !== '')
    ? null
    : 'must be a revision number, a hash or "latest"';
const names: Check = (value) => {
  if (!Array.isArray(value) || value.length === 0) return 'must be a list of at least one node name';
  if (value.some((name) => typeof name !== 'string' || name.trim() === '')) return 'must hold node names only';
  return new Set(value).size === value.length ? null : 'names a node twice';
};

const COMMON: Readonly<Record<string, Check>> = {
  site: text,
  revision,
  started_by: text,
  reason: text,
  ...checkRunDescription,
};

const FIELDS: Readonly<Record<SiteRunKind, Readonly<Record<string, Check>>>> = {
  deploy_site: COMMON,
  update_site: { ...COMMON, release_removed: flag },
  redeploy_nodes: { ...COMMON, nodes: names, erase: flag },
  test_site: COMMON,
};

const REQUIRED: Readonly<Record<SiteRunKind, readonly string[]>> = {
  deploy_site: ['site'],
  update_site: ['site'],
  redeploy_nodes: ['site', 'nodes'],
  test_site: ['site'],
};

/** Checks a workflow's arguments by hand (no schema library runs in a workflow); names every bad field. */
export function parseSiteRunInput(kind: SiteRunKind, args: readonly unknown[]): ParsedInput {
  const [raw] = args;
  if (args.length !== 1 || typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    return { ok: false, problems: [`input must be one JSON object, e.g. ${example(kind)}`] };
  }
  const fields = FIELDS[kind];
  const problems: string[] = [];
  for (const name of REQUIRED[kind]) {
    if (!Object.hasOwn(raw, name)) problems.push(`missing field '${name}'`);
  }
  for (const [name, value] of Object.entries(raw)) {
    const check = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!check) {
      problems.push(`unknown field '${name}' (known: ${Object.keys(fields).join(', ')})`);
      continue;
    }
    const problem = check(value);
    if (problem) problems.push(`field '${name}' ${problem}`);
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, input: raw as SiteRunInput };
}

function example(kind: SiteRunKind): string {
  return kind === 'redeploy_nodes' ? '{"site":"dc1","nodes":["node01"]}' : '{"site":"dc1"}';
}
