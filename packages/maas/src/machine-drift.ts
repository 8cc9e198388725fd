/** Properties of a machine in MAAS that persist until someone changes them: recorded at a deployment, and compared with later. */
export interface MachineState {
  /** In the words of MAAS: `Deployed`. */
  readonly status: string;
  readonly hostname: string;
  readonly owner: string;
  /** Operating system: `ubuntu/jammy`. */
  readonly system: string;
  readonly kernel: string;
  readonly zone: string;
  readonly pool: string;
  /** The run that deployed it, from its marker; empty without a marker. */
  readonly deployment: string;
  readonly tags: readonly string[];
  /** Each interface and disk in one line, by name. */
  readonly interfaces: Readonly<Record<string, string>>;
  readonly disks: Readonly<Record<string, string>>;
  /** `locked`, or empty. */
  readonly lock: string;
  readonly domain: string;
  readonly powerType: string;
  readonly processors: string;
  readonly memory: string;
  /** Each partition and each filesystem on a whole disk in one line: `partition sda-part1`, `filesystem sdb`. */
  readonly storage: Readonly<Record<string, string>>;
  /** Options for its kernel, by the tag that gives them. Absent: not known. */
  readonly kernelOptions?: Readonly<Record<string, string>>;
}

/** One difference; `null`: there was or is none. */
export interface Drift {
  /** `system`, `tag gpu`, `interface eth0`. */
  readonly what: string;
  readonly deployed: string | null;
  readonly now: string | null;
}

const FIELDS = {
  hostname: 'hostname',
  domain: 'domain',
  owner: 'owner',
  system: 'system',
  kernel: 'kernel',
  zone: 'zone',
  pool: 'pool',
  deployment: 'deployment',
  lock: 'lock',
  powerType: 'power type',
  processors: 'processors',
  memory: 'memory',
} as const;

/** The differences of a machine from its deployment. One that is no longer deployed has no other difference worth showing. */
export function driftOf(deployed: MachineState, now: MachineState): readonly Drift[] {
  if (deployed.status !== now.status) return [{ what: 'status', deployed: deployed.status, now: now.status }];
  const set = (tags: readonly string[]) => Object.fromEntries(tags.map((tag) => [tag, 'set']));
  return [
    ...(Object.keys(FIELDS) as (keyof typeof FIELDS)[])
      .filter((field) => deployed[field] !== now[field])
      // A release that was refused half-way clears the system in MAAS, not on the machine.
      .filter((field) => !(field === 'system' && now.system === ''))
      .map((field) => ({ what: FIELDS[field], deployed: deployed[field] || null, now: now[field] || null })),
    ...differing('tag ', set(deployed.tags), set(now.tags)),
    ...differing('kernel options of tag ', deployed.kernelOptions, now.kernelOptions),
    ...differing('interface ', deployed.interfaces, now.interfaces),
    ...differing('disk ', deployed.disks, now.disks),
    ...differing('', deployed.storage, now.storage),
  ];
}

function differing(
  prefix: string,
  deployed: Readonly<Record<string, string>> | undefined,
  now: Readonly<Record<string, string>> = {},
): readonly Drift[] {
  if (deployed === undefined) return [];
  return [...new Set([...Object.keys(deployed), ...Object.keys(now)])]
    .filter((name) => deployed[name] !== now[name])
    .sort()
    .map((name) => ({ what: `${prefix}${name}`, deployed: deployed[name] ?? null, now: now[name] ?? null }));
}

/**
 * The record of a machine after a run that left it as it was: the record of an earlier run, with the tags that this one has
 * added, without those that it has removed. Without such a record, or
 * after an unrecorded deployment, the current state in MAAS.
 */
export function recordAfter(
  earlier: MachineState | undefined,
  now: MachineState,
  tags: { readonly added: readonly string[]; readonly removed: readonly string[] },
): MachineState {
  if (earlier === undefined || earlier.deployment !== now.deployment) return now;
  const added = tags.added.filter((tag) => now.tags.includes(tag));
  const kept = earlier.tags.filter((tag) => !tags.removed.includes(tag) || now.tags.includes(tag));
  return { ...now, ...earlier, tags: [...new Set([...kept, ...added])].sort() };
}
