import type { Machine } from './machine.ts';

/**
 * The holder of a machine. MAAS knows only its user; several sites and runs may share one key, so a held
 * machine also has our marker in its workload annotations, until it is released.
 */
export interface Claim {
  /** User name of our key. */
  readonly me: string;
  readonly site: string;
  /**
   * Identifies one request to deploy the node. It must be the same for all attempts of one activity and
   * different for each new request: it distinguishes a failure of this deployment from an older one.
   */
  readonly run: string;
}

type Hold =
  /** Held by no one. */
  | 'free'
  /** Ours by owner and marker. */
  | 'ours'
  /** Of our user, without marker: just allocated, or allocated by hand with the same key. */
  | 'unmarked'
  /** Of our user, but marked by another site. */
  | 'other-site'
  /** Of another MAAS user. */
  | 'other-owner';

export interface Marker {
  readonly site: string;
  readonly node: string;
  readonly run: string;
  /** The series our deployment requested, verbatim; absent for a deployment of someone else. */
  readonly series?: string;
  /** Digest of the layout it was deployed with. */
  readonly layout?: string;
}

const siteKey = 'sitewright_site';
const nodeKey = 'sitewright_node';
const runKey = 'sitewright_run';
const seriesKey = 'sitewright_series';
const layoutKey = 'sitewright_layout';

/** Whether MAAS accepts the key of an annotation; any other label would make it refuse the marker, too. */
export const isAnnotationKey = (key: string): boolean => /^[\w.\-/]+$/.test(key);

/** The annotations that mark a machine, with the caller's labels that MAAS accepts; ours win over equal names. */
export function markerAnnotations(
  marker: Marker,
  labels: Readonly<Record<string, string>> = {},
): Record<string, string> {
  // An empty value would remove its key.
  const given = Object.entries(labels).filter(([key, value]) => isAnnotationKey(key) && value !== '');
  return {
    ...Object.fromEntries(given),
    [siteKey]: marker.site,
    [nodeKey]: marker.node,
    [runKey]: marker.run,
    // Empty without a requested series or layout: that removes the value of an earlier run.
    [seriesKey]: marker.series ?? '',
    [layoutKey]: marker.layout ?? '',
  };
}

/** The marker of a machine; `undefined` when no Sitewright site marked it. */
export function markerOf(machine: Machine): Marker | undefined {
  const site = machine.annotations[siteKey] ?? '';
  if (site === '') return undefined;
  const series = machine.annotations[seriesKey] ?? '';
  const layout = machine.annotations[layoutKey] ?? '';
  return {
    site,
    node: machine.annotations[nodeKey] ?? '',
    run: machine.annotations[runKey] ?? '',
    ...(series === '' ? {} : { series }),
    ...(layout === '' ? {} : { layout }),
  };
}

export function holdOf(machine: Machine, claim: Pick<Claim, 'me' | 'site'>): Hold {
  if (machine.owner === null) return 'free';
  if (machine.owner !== claim.me) return 'other-owner';
  const marker = markerOf(machine);
  if (marker === undefined) return 'unmarked';
  return marker.site === claim.site ? 'ours' : 'other-site';
}

/** True when the machine is held for this request. */
export function isOfThisRun(machine: Machine, claim: Claim): boolean {
  return holdOf(machine, claim) === 'ours' && markerOf(machine)?.run === claim.run;
}
