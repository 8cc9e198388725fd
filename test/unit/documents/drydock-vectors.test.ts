import { describe, expect, it } from 'vitest';
import { isError } from '../../../src/core/problems/diagnostic.ts';
import { loadSite, type ResolvedSite } from '../../../src/documents/index.ts';
import { fileOf, readVectors, type Vector } from './vectors.ts';

/** A node as Drydock sees it in the end. */
interface EffectiveNode {
  readonly tags: readonly string[] | null;
  readonly rack: string | null;
  readonly image: string | null;
  readonly kernel: string | null;
  readonly boot_mac: string | null;
  readonly owner_data: Readonly<Record<string, string>> | null;
  readonly kernel_options: string | null;
  readonly interfaces:
    | readonly {
        readonly name: string;
        readonly slaves: readonly string[];
        readonly networks?: readonly string[];
      }[]
    | null;
  readonly storage:
    | readonly {
        readonly name: string;
        readonly partitions:
          | readonly { readonly name: string; readonly size: string; readonly mountpoint?: string }[]
          | null;
      }[]
    | null;
}

interface Verdict {
  readonly effective?: { readonly nodes?: Readonly<Record<string, Partial<EffectiveNode>>> };
  readonly status?: 'success' | 'failure';
  readonly messages?: readonly { readonly code: string; readonly error: boolean }[];
}

interface Expected extends Verdict {
  readonly rendered?: { readonly error?: object };
  readonly drydock?: Verdict;
}

/** Images and kernels: only MAAS knows which it has. They are checked when the site is verified. */
const OF_MAAS = 'DD3001';

function accepted({ expected, judgement }: Vector<Expected>): readonly string[] {
  if (judgement?.verdict === 'better') return judgement.want?.accept ?? [];
  const { status, messages = [] } = expected.drydock ?? expected;
  const errors = messages.filter(({ error }) => error);
  const isForMaas = errors.length > 0 && errors.every(({ code }) => code === OF_MAAS);
  const isRefused = expected.rendered?.error !== undefined || (status === 'failure' && !isForMaas);
  return isRefused ? ['error'] : ['ok', 'warning'];
}

describe.each(['hardware', 'inherit', 'link', 'network', 'node', 'rest', 'storage'])('Drydock, %s', (topic) => {
  it.each(readVectors<Expected>(`drydock-${topic}`))('$id: $title', check);
});

describe('Deckhand, then Drydock', () => {
  it.each(readVectors<Expected>('site-layered'))('$id: $title', check);
});

function check(vector: Vector<Expected>): void {
  const { site, diagnostics } = loadSite(fileOf(vector.input), { configuration: 'optional' });
  const errors = diagnostics.filter(isError);
  const isWarned = diagnostics.some(({ severity }) => severity === 'warning');
  const outcome = errors.length > 0 ? 'error' : isWarned ? 'warning' : 'ok';
  const wanted = accepted(vector);
  // A warning of ours beside what is right is no difference.
  expect(wanted.includes('ok') ? [...wanted, 'warning'] : wanted, JSON.stringify(errors)).toContain(outcome);
  if (outcome === 'error' || vector.judgement?.verdict === 'better') return;
  const { effective } = vector.expected.drydock ?? vector.expected;
  for (const [name, wants] of Object.entries(effective?.nodes ?? {})) {
    const ours = site!.nodes.find((node) => node.name === name)!;
    const seen = seenAsDrydock(ours);
    for (const [part, want] of Object.entries(wants) as [keyof EffectiveNode, unknown][])
      if (part in seen) expect(seen[part], `${name}: ${part}`).toEqual(PARTS[part]?.(want as never) ?? want);
  }
}

/** Of an interface without a network nothing is to be done, and the order of words is free. */
const PARTS: { readonly [Part in keyof EffectiveNode]?: (value: EffectiveNode[Part]) => unknown } = {
  kernel_options: (text) => (text ?? '').split(' ').sort(),
  owner_data: (data) => data ?? {},
  interfaces: (all) =>
    (all ?? []).flatMap(({ name, slaves, networks }) => (networks === undefined ? [] : [[name, slaves, networks]])),
  storage: (disks) =>
    (disks ?? []).map(({ name, partitions }) => [
      name,
      (partitions ?? []).map((one) => [one.name, one.size, one.mountpoint ?? null]),
    ]),
};

const seenAsDrydock = ({
  tags,
  rack,
  distro_series,
  hwe_kernel,
  boot_mac,
  labels,
  layout,
}: ResolvedSite['nodes'][number]) =>
  ({
    tags,
    rack,
    image: distro_series ?? null,
    kernel: hwe_kernel ?? null,
    boot_mac: boot_mac ?? null,
    owner_data: labels,
    kernel_options: (layout?.kernelOptions ?? '').split(' ').sort(),
    interfaces: (layout?.ports ?? []).map(({ name, devices, networks }) => [
      name,
      devices.map((device) => device.name),
      networks.map(({ network }) => network),
    ]),
    storage: (layout?.storage?.disks ?? []).map(({ device, partitions = [] }) => [
      device.name,
      partitions.map(({ name, size, filesystem }) => [name, size, filesystem?.mountPoint ?? null]),
    ]),
  }) as Readonly<Partial<Record<keyof EffectiveNode, unknown>>>;
