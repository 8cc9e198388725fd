import { type MachineStatus, machineStatusFilters } from '@sitewright/maas/status';
import type { FieldErrors } from './answer.ts';
import type { Form } from './form.ts';
import type { Machine } from './records.ts';
import type { Region } from './region.ts';

type Test = (machine: Readonly<Machine>) => boolean;

/** The parsed values of one filter: a test of machines, or errors. */
type Reading = { readonly test: Test } | { readonly errors: readonly string[] };

/** One filter of the machine list and of `op=allocate`, with all its values. */
type Filter = (region: Region, values: readonly string[]) => Reading;

const matching = (test: Test): Reading => ({ test });
const wrong = (...errors: readonly string[]): Reading => ({ errors });

const macAddress = /^(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i;
export const isMac = (value: string): boolean => macAddress.test(value);

const statusByName = new Map(
  Object.entries(machineStatusFilters).map(([n, name]): [string, MachineStatus] => [name, Number(n) as MachineStatus]),
);

const words = (values: readonly string[]): string[] => values.flatMap((value) => value.split(/[\s,]+/)).filter(Boolean);

/** A filter over names that must exist. */
function named(
  known: (region: Region, name: string) => boolean,
  message: (missing: readonly string[]) => string,
  test: (names: readonly string[], region: Region) => Test,
): Filter {
  return (region, values) => {
    const names = words(values);
    const missing = names.filter((name) => !known(region, name));
    return missing.length > 0 ? wrong(message(missing)) : matching(test(names, region));
  };
}

const zoneExists = (region: Region, name: string): boolean => region.zones.has(name);
const poolExists = (region: Region, name: string): boolean => region.poolNamed(name) !== undefined;
const tagExists = (region: Region, name: string): boolean => region.tags.has(name);
const noZone = (missing: readonly string[]): string => `No such zone(s): ${missing.join(', ')}.`;
const noPool = (missing: readonly string[]): string => `No such pool(s): ${missing.join(', ')}.`;
const noTag = (missing: readonly string[]): string =>
  `No such tag(s): ${missing.map((name) => `'${name}'`).join(', ')}.`;

const inPools =
  (names: readonly string[], region: Region): Test =>
  (machine) =>
    names.includes(region.poolOf(machine).name);

const oneOf =
  (field: (machine: Readonly<Machine>) => string): Filter =>
  (_region, values) => {
    const wanted = new Set(values);
    return matching((machine) => wanted.has(field(machine)));
  };

const atLeast =
  (field: (machine: Readonly<Machine>) => number): Filter =>
  (_region, values) => {
    const wanted = Number(values.at(-1));
    if (!Number.isFinite(wanted)) return wrong('Enter a number.');
    return matching((machine) => field(machine) >= wanted);
  };

/** `label:size(tag)` items; sizes in GB. Labels and tags of disks are ignored. */
const storage: Filter = (_region, values) => {
  const sizes = values
    .flatMap((value) => value.match(/(?:[^,(]|\([^)]*\)?)+/g) ?? [])
    .map((item) => Number(/^(?:[\w-]+:)?(\d+(?:\.\d+)?)/.exec(item.trim())?.[1] ?? Number.NaN));
  if (sizes.some(Number.isNaN)) return wrong('Malformed storage constraint.');
  sizes.sort((a, b) => b - a);
  return matching((machine) => {
    const disks = machine.disks.map((disk) => disk.size / 1e9).sort((a, b) => b - a);
    return sizes.every((size, i) => (disks[i] ?? 0) >= size);
  });
};

/** A subnet by name, id or CIDR. */
const subnets: Filter = (region, values) => {
  const wanted = words(values);
  const find = (key: string): number | undefined => {
    for (const subnet of region.subnets.values()) {
      if ([subnet.name, String(subnet.id), subnet.cidr].includes(key.replace(/^(?:name|id|cidr):/, '')))
        return subnet.id;
    }
    return undefined;
  };
  const missing = wanted.filter((key) => find(key) === undefined);
  if (missing.length > 0) return wrong(`No matching subnets: ${missing.join(', ')}.`);
  const ids = wanted.map(find);
  return matching((machine) =>
    machine.interfaces.some((nic) => nic.links.some((link) => ids.includes(link.subnet ?? -1))),
  );
};

const filters: Readonly<Record<string, Filter>> = {
  id: oneOf((machine) => machine.id),
  system_id: oneOf((machine) => machine.id),
  hostname: oneOf((machine) => machine.hostname),
  name: (_region, values) =>
    matching(
      (machine) => values.includes(machine.hostname) || values.includes(`${machine.hostname}.${machine.domain}`),
    ),
  mac_address: (_region, values) => {
    const bad = values.filter((value) => !isMac(value));
    if (bad.length > 0) return wrong(...bad.map((value) => `'${value}' is not a valid MAC address.`));
    const macs = new Set(values.map((value) => value.toLowerCase().replaceAll('-', ':')));
    return matching((machine) => machine.interfaces.some((nic) => macs.has(nic.mac)));
  },
  domain: named(
    (_region, name) => name === 'maas',
    (missing) => `No such domain(s): ${missing.join(', ')}.`,
    (names) => (machine) => names.includes(machine.domain),
  ),
  agent_name: oneOf((machine) => machine.agentName),
  owner: oneOf((machine) => machine.owner ?? ''),
  power_state: oneOf((machine) => machine.powerState),
  arch: (_region, values) => {
    const wanted = words(values);
    return matching((machine) =>
      wanted.some((arch) => machine.architecture === arch || machine.architecture.startsWith(`${arch}/`)),
    );
  },
  cpu_count: atLeast((machine) => machine.cpuCount),
  mem: atLeast((machine) => machine.memory),
  storage,
  subnets,
  status: (_region, values) => {
    const bad = values.filter((value) => !statusByName.has(value));
    if (bad.length > 0) {
      return wrong(...bad.map((value) => `Select a valid choice. ${value} is not one of the available choices.`));
    }
    const wanted = new Set(values.map((value): number | undefined => statusByName.get(value)));
    return matching((machine) => wanted.has(machine.status));
  },
  zone: named(zoneExists, noZone, (names) => (machine) => names.includes(machine.zone)),
  not_in_zone: named(zoneExists, noZone, (names) => (machine) => !names.includes(machine.zone)),
  pool: named(poolExists, noPool, inPools),
  not_in_pool: named(poolExists, noPool, (names, region) => {
    const test = inPools(names, region);
    return (machine) => !test(machine);
  }),
  // A machine must have all the tags named.
  tags: named(tagExists, noTag, (names) => (machine) => names.every((name) => machine.tags.includes(name))),
  not_tags: named(tagExists, noTag, (names) => (machine) => !names.some((name) => machine.tags.includes(name))),
};

/** Parameters that choose no machine. */
const notAFilter: ReadonlySet<string> = new Set(['op', 'format']);

/** List filters that are not constraints of `op=allocate`, where `agent_name` is a value to set. */
const listOnly: ReadonlySet<string> = new Set([
  'id',
  'hostname',
  'mac_address',
  'domain',
  'agent_name',
  'owner',
  'power_state',
  'status',
]);

type SelectionPurpose = 'list' | 'allocation';

function filterNamed(name: string, purpose: SelectionPurpose): Filter | undefined {
  if (purpose === 'allocation' && listOnly.has(name)) return undefined;
  return Object.hasOwn(filters, name) ? filters[name] : undefined;
}

type Selection = { readonly machines: Readonly<Machine>[] } | { readonly errors: FieldErrors };

/**
 * The machines that pass all filters of a form: AND between names, OR within one repeated name.
 *
 * An unknown filter is an error in a list and is ignored in an allocation.
 */
export function selectMachines(region: Region, form: Form, purpose: SelectionPurpose): Selection {
  const errors: Record<string, readonly string[]> = {};
  const tests: Test[] = [];
  for (const [name, given] of form.entries()) {
    if (notAFilter.has(name)) continue;
    const values = given.filter((value) => value !== '');
    const filter = filterNamed(name, purpose);
    if (!filter) {
      if (purpose === 'list') errors[name] = ['No such constraint.'];
      continue;
    }
    if (values.length === 0) continue;
    const reading = filter(region, values);
    if ('errors' in reading) errors[name] = reading.errors;
    else tests.push(reading.test);
  }
  if (Object.keys(errors).length > 0) return { errors };
  return { machines: candidates(region, form, purpose).filter((machine) => tests.every((test) => test(machine))) };
}

/** The smallest set from an index, so that polls of a few machines do not scan all. */
function candidates(region: Region, form: Form, purpose: SelectionPurpose): Readonly<Machine>[] {
  const given = (name: string): Set<string> =>
    new Set(filterNamed(name, purpose) ? form.all(name).filter((value) => value !== '') : []);
  const ids = new Set([...given('id'), ...given('system_id')]);
  if (ids.size > 0) return [...ids].flatMap((id) => region.machines.get(id) ?? []);
  const hostnames = given('hostname');
  if (hostnames.size > 0) return [...hostnames].flatMap((name) => region.machinesNamed(name));
  return [...region.machines.values()];
}

const python = (value: string): string => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** MAAS' text for constraints that no machine meets. */
export function describeConstraints(form: Form): { readonly given: string; readonly resolved: string } {
  const given = form.entries().filter(([name]) => name !== 'op');
  const resolved = given
    .filter(([name]) => filterNamed(name, 'allocation') !== undefined)
    .map(([name, values]) => {
      const isNumber = name === 'cpu_count' || name === 'mem';
      const shown = values.map((value) => (isNumber && Number.isInteger(Number(value)) ? `${Number(value)}.0` : value));
      return `${name}=${shown.join(',')}`;
    });
  return {
    given: `[${given.map(([name, values]) => `(${python(name)}, [${values.map(python).join(', ')}])`).join(', ')}]`,
    resolved: resolved.sort().join(' '),
  };
}
