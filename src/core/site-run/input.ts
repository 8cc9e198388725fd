import * as z from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { checkFields, flag, lineOf, listOf, optional, rule, textOf, valueThat } from '../data/schema.ts';
import { holdNames, MAX, startFields } from '../run/description.ts';
import { type ParsedRunInput, parseRunInput } from '../run/input.ts';
import type { SiteRunKind } from '../words.ts';
import { SITE_NAME } from './site-name.ts';

const revision = valueThat<string | number>(
  (value) =>
    (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) ||
    (typeof value === 'string' && value.trim() !== '' && value.length <= 100),
  'must be a revision number, a hash or "latest"',
);

const nodeName = lineOf(MAX.name);

const nodes = valueThat<readonly string[]>(
  (value) => nodesProblem(value) === undefined,
  (value) => nodesProblem(value) ?? '',
);

function nodesProblem(value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length === 0) return 'must be a list of at least one node name';
  if (value.length > MAX.names) return `must have at most ${MAX.names}`;
  if (value.some((name) => !checkFields(nodeName, name).ok))
    return `must contain only node names of 1 to ${MAX.name} characters`;
  return new Set(value).size === value.length ? undefined : 'names a node twice';
}

const checks = listOf(lineOf(MAX.name), 1, MAX.names);

const siteName = valueThat<string>(
  (value) => typeof value === 'string' && SITE_NAME.test(value),
  "must be the name of a site: lower-case letters, digits, '.', '_' and '-', at most 63 characters",
);

/** Input of all four: one JSON object (docs/explain/design.md#the-temporal-surface). Every field but `site` (and `nodes` of `redeploy_nodes`) is optional. */
const fields = z.strictObject({
  site: siteName,
  ...optional({
    /** Number, hash (or a unique prefix of it), or `latest` (default). */
    revision,
    /**
     * First take the documents from the branch that the site follows; with update_site, end if these are deployed already.
     * Default false.
     */
    fetch: flag,
    /** Groups before which the run waits until an operator approves; `*`: before anything is changed. */
    hold_before: holdNames,
    /** update_site: also release the machines of nodes that were removed from the documents. Default false. */
    release_removed: flag,
    /** deploy_site: nodes whose machines are taken over as they are, though something else deployed them with our MAAS user. */
    adopt: nodes,
    /** Go beyond the limits of the site, for this reason. Whoever starts the run needs the right to. */
    override_limits: textOf(MAX.reason),
    /** redeploy_nodes: the nodes to release and deploy again. test_site: look only at these. */
    nodes,
    /** test_site: ask only these checks; default: all of the site. */
    checks,
    /** redeploy_nodes: also erase the disks on release. Default false. */
    erase: flag,
  }),
  ...startFields,
});
export type SiteRunInput = Wire<typeof fields>;

/** Fetching decides which revision it is. */
const fetchesOrNames = rule<Pick<z.output<typeof fields>, 'fetch' | 'revision'>>(({ fetch, revision: given }) =>
  fetch && given !== undefined ? "fields 'fetch' and 'revision' exclude each other: give one of them" : undefined,
);

const { site, revision: which, fetch, hold_before, release_removed, adopt, override_limits, erase } = fields.shape;
const common = { site, revision: which, ...startFields };
const SCHEMAS: Readonly<Record<SiteRunKind, z.core.$ZodType<z.output<typeof fields>>>> = {
  deploy_site: z.strictObject({ ...common, fetch, hold_before, adopt, override_limits }).check(fetchesOrNames),
  update_site: z
    .strictObject({ ...common, fetch, hold_before, release_removed, override_limits })
    .check(fetchesOrNames),
  redeploy_nodes: z.strictObject({ ...common, nodes, erase, hold_before, override_limits }),
  test_site: z.strictObject({ ...common, fetch, ...optional({ nodes, checks }) }).check(fetchesOrNames),
};

/** Checks a workflow's arguments. Reports every bad field. */
export const parseSiteRunInput = (kind: SiteRunKind, args: readonly unknown[]): ParsedRunInput<SiteRunInput> =>
  parseRunInput(
    SCHEMAS[kind],
    args,
    kind === 'redeploy_nodes' ? '{"site":"dc1","nodes":["node01"]}' : '{"site":"dc1"}',
  );
