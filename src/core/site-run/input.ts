import { flag, lineOf, listOf, objectOf, type Shape, valueThat, withRule } from '../data/shape.ts';
import { holdNames, responsibleNames } from '../run/approval.ts';
import { descriptionFields, MAX, noteFields, type RunDescription } from '../run/description.ts';
import { type ParsedRunInput, parseRunInput } from '../run/input.ts';
import type { SiteRunKind } from '../words.ts';
import { SITE_NAME } from './site-name.ts';

/** Input of all four: one JSON object (docs/explain/design.md#the-temporal-surface). Every field but `site` (and `nodes` of `redeploy_nodes`) is optional. */
export interface SiteRunInput extends RunDescription {
  readonly site: string;
  /** Number, hash (or a unique prefix of it), or `latest` (default). */
  readonly revision?: string | number;
  /**
   * First take the documents from the branch that the site follows; with update_site, end if these are deployed already.
   * Default false.
   */
  readonly fetch?: boolean;
  /** Groups before which the run waits until an operator approves; `*`: before anything is changed. */
  readonly hold_before?: readonly string[];
  readonly started_by?: string;
  /** Who made the schedule that starts the run, and who triggered it; set by the service. None of them may approve. */
  readonly responsible?: readonly string[];
  readonly reason?: string;
  /** update_site: also release the machines of nodes that were removed from the documents. Default false. */
  readonly release_removed?: boolean;
  /** deploy_site: nodes whose machines are taken over as they are, though something else deployed them with our MAAS user. */
  readonly adopt?: readonly string[];
  /** Go beyond the limits of the site, for this reason. Whoever starts the run needs the right to. */
  readonly override_limits?: string;
  /** redeploy_nodes: the nodes to release and deploy again. test_site: look only at these. */
  readonly nodes?: readonly string[];
  /** test_site: ask only these checks; default: all of the site. */
  readonly checks?: readonly string[];
  /** redeploy_nodes: also erase the disks on release. Default false. */
  readonly erase?: boolean;
}

type ParsedInput = ParsedRunInput<SiteRunInput>;

const revision = valueThat<string | number>(
  (value) =>
    (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) ||
    (typeof value === 'string' && value.trim() !== '' && value.length <= 100),
  'must be a revision number, a hash or "latest"',
);

const nodeName = lineOf(MAX.name);

const nodes: Shape<readonly string[]> = {
  problems: (value, path) => {
    const wrong = (message: string) => [{ kind: 'wrong', path, message }] as const;
    if (!Array.isArray(value) || value.length === 0) return wrong('must be a list of at least one node name');
    if (value.length > MAX.names) return wrong(`must have at most ${MAX.names}`);
    if (value.some((name) => nodeName.problems(name, []).length > 0))
      return wrong(`must contain only node names of 1 to ${MAX.name} characters`);
    return new Set(value).size === value.length ? [] : wrong('names a node twice');
  },
};

const checks = listOf(lineOf(MAX.name), 1, MAX.names);

const siteName = valueThat<string>(
  (value) => typeof value === 'string' && SITE_NAME.test(value),
  "must be the name of a site: lower-case letters, digits, '.', '_' and '-', at most 63 characters",
);

const COMMON = {
  site: siteName,
  revision,
  started_by: noteFields.by,
  responsible: responsibleNames,
  reason: noteFields.reason,
  ...descriptionFields,
};

const OVERRIDE = { override_limits: noteFields.reason };

/** Fetching decides which revision it is. */
const fetching = (shape: Shape<SiteRunInput>): Shape<SiteRunInput> =>
  withRule(shape, ({ fetch, revision: given }) =>
    fetch && given !== undefined ? "fields 'fetch' and 'revision' exclude each other: give one of them" : undefined,
  );

const SHAPES: Readonly<Record<SiteRunKind, Shape<SiteRunInput>>> = {
  deploy_site: fetching(
    objectOf({ ...COMMON, fetch: flag, hold_before: holdNames, adopt: nodes, ...OVERRIDE }, ['site']),
  ),
  update_site: fetching(
    objectOf({ ...COMMON, fetch: flag, hold_before: holdNames, release_removed: flag, ...OVERRIDE }, ['site']),
  ),
  redeploy_nodes: objectOf({ ...COMMON, nodes, erase: flag, hold_before: holdNames, ...OVERRIDE }, ['site', 'nodes']),
  test_site: fetching(objectOf({ ...COMMON, fetch: flag, nodes, checks }, ['site'])),
};

/** Checks a workflow's arguments. Reports every bad field. */
export const parseSiteRunInput = (kind: SiteRunKind, args: readonly unknown[]): ParsedInput =>
  parseRunInput(SHAPES[kind], args, kind === 'redeploy_nodes' ? '{"site":"dc1","nodes":["node01"]}' : '{"site":"dc1"}');
