import type { Machine } from './machine.js';

/**
 * Who holds a machine. MAAS knows only its user; several sites and runs may share one key, so a held
 * machine also carries our marker in its workload annotations. They vanish when it is released.
 */
export interface Claim {
  /** User name of our key. */
  readonly me: string;
  readonly site: string;
  /**
   * Names one wish to have the node deployed. It must stay the same while one activity is repeated and
   * differ for each new wish: it is how a failure of this deployment is told from an older one.
   */
  readonly run: string;
}

export type Hold =
  /** Nobody's. */
  | 'free'
  /** Ours by owner and marker. */
  | 'ours'
  /** Of our user, with no marker: allocated a moment ago, or by hand with the same key. */
  | 'unmarked'
  /** Of our user, but marked by another site. */
  | 'other-site'
  /** Of another MAAS user. */
  | 'other-owner';

export interface Marker {
  readonly site: string;
  readonly node: string;
  readonly run: string;
  /** The series our own deployment asked for, word for word; absent where another deployed it. */
  readonly series?: string;
}

const siteKey = 'sitewright_site';
const nodeKey = 'sitewright_node';
const runKey = 'sitewright_run';
const seriesKey = 'sitewright_series';

/** What MAAS takes as the key of an annotation; a label of another name would have the marker refused with it. */
export const isAnnotationKey = (key: string): boolean => /^[\w.\-/]+$/.test(key);

/** The annotations that mark a machine, with those of the caller's own labels that MAAS takes; ours win over equal names. */
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
    // Empty where nothing was asked for: that removes what an earlier run has left.
    [seriesKey]: marker.series ?? '',
  };
}

/** The marker of a machine; `undefined` when no site of ours has marked it. */
export function markerOf(machine: Machine): Marker | undefined {
  const site = machine.annotations[siteKey] ?? '';
  if (site === '') return undefined;
  const series = machine.annotations[seriesKey] ?? '';
  return {
    site,
    node: machine.annotations[nodeKey] ?? '',
    run: machine.annotations[runKey] ?? '',
    ...(series === '' ? {} : { series }),
  };
}

export function holdOf(machine: Machine, claim: Pick<Claim, 'me' | 'site'>): Hold {
  if (machine.owner === null) return 'free';
  if (machine.owner !== claim.me) return 'other-owner';
  const marker = markerOf(machine);
  if (marker === undefined) return 'unmarked';
  return marker.site === claim.site ? 'ours' : 'other-site';
}

/** True when the machine is held for this very wish. */
export function isOfThisRun(machine: Machine, claim: Claim): boolean {
  return holdOf(machine, claim) === 'ours' && markerOf(machine)?.run === claim.run;
}
