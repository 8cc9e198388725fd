import type { MachineLayout } from '@sitewright/maas/machine-layout';
import type { SiteNode } from '../../core/deployment/index.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { placeProblem } from '../diagnostics/place-problem.ts';
import type { BaremetalNodeData, HostProfileData } from '../schemas/baremetal-node.ts';
import { type InheritedLayout, inheritLayout, NO_LAYOUT } from './inherit-layout.ts';
import { inheritValue, mergeTags } from './inheritance.ts';
import type { LayoutResolver } from './resolve-layout.ts';
import type { Checked, SiteDocument } from './site-document.ts';

/** A node for a deployment: the fields for selectors and for MAAS. */
export interface ResolvedNode extends SiteNode {
  /** Host name in MAAS: the document's name, up to its first dot. */
  readonly hostname: string;
  /** The part after the first dot of the document's name. */
  readonly domain?: string;
  /** MAC address of its boot interface, in lower case with colons: MAAS finds the machine by it. */
  readonly boot_mac?: string;
  /** `platform.image`, e.g. `jammy`. */
  readonly distro_series?: string;
  /** `platform.kernel`, e.g. `hwe-22.04`. */
  readonly hwe_kernel?: string;
  /** Interfaces, disks and kernel options to configure in MAAS; absent if the documents have none. */
  readonly layout?: MachineLayout;
}

/** Values of a node or profile after inheritance. `null` is "unset on purpose" (`!`). */
interface Inherited {
  readonly rack: string | null | undefined;
  readonly image: string | null | undefined;
  readonly kernel: string | null | undefined;
  readonly tags: readonly string[] | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly layout: InheritedLayout;
}

const NOTHING: Inherited = {
  rack: undefined,
  image: undefined,
  kernel: undefined,
  tags: undefined,
  labels: undefined,
  layout: NO_LAYOUT,
};

/**
 * Nodes with the values of their host profiles, by Drydock's rules: the node's own value first, then
 * its profile's, then that profile's own profile's; tags and labels are merged; `!name` removes an inherited
 * tag or label, a lone `!` an inherited value.
 *
 * Unknown profiles are errors, unless the site has no profile documents at all: then one warning says
 * that nodes have only their own values.
 */
export function resolveNodes(
  nodes: readonly Checked<BaremetalNodeData>[],
  profiles: readonly Checked<HostProfileData>[],
  /** Profiles whose documents are invalid, which has been reported. */
  brokenProfiles: ReadonlySet<string>,
  report: (diagnostic: Diagnostic) => void,
  layouts: LayoutResolver,
  /** Some documents could not be read: a profile that is missing may be among them. */
  incomplete = false,
): ResolvedNode[] {
  const chain = new ProfileChain(profiles, brokenProfiles, report);
  const resolved = nodes.map((node) => resolveNode(node, chain.inheritedBy(node), layouts));
  if (!incomplete) chain.reportMissing();
  return resolved;
}

class ProfileChain {
  readonly #profiles: ReadonlyMap<string, Checked<HostProfileData>>;
  readonly #broken: ReadonlySet<string>;
  readonly #report: (diagnostic: Diagnostic) => void;
  readonly #done = new Map<string, Inherited>();
  readonly #missing: { readonly user: SiteDocument; readonly name: string }[] = [];

  constructor(
    profiles: readonly Checked<HostProfileData>[],
    broken: ReadonlySet<string>,
    report: (diagnostic: Diagnostic) => void,
  ) {
    this.#profiles = new Map(profiles.map((profile) => [profile.document.name, profile]));
    this.#broken = broken;
    this.#report = report;
    // Every profile, used or not: a cycle of profiles is an error even when no node uses it.
    for (const name of this.#profiles.keys()) this.#resolve(name);
  }

  inheritedBy(user: Checked<BaremetalNodeData>): Inherited {
    const name = user.data.host_profile;
    if (name === undefined) return NOTHING;
    if (!this.#profiles.has(name)) this.#note(user.document, name);
    return this.#done.get(name) ?? NOTHING;
  }

  /** Node files are often kept without any profiles; if only some are missing, it is a mistake. */
  reportMissing(): void {
    const [first] = this.#missing;
    if (!first) return;
    if (this.#profiles.size === 0 && this.#broken.size === 0) {
      const names = [...new Set(this.#missing.map((missing) => missing.name))];
      this.#report(
        placeProblem(first.user.yaml, {
          severity: 'warning',
          code: 'node.profiles-not-given',
          message: `no host profiles are given (named: ${names.join(', ')}): nodes have only the tags, labels and rack of their own documents`,
          hint: 'Add the drydock/HostProfile/v1 documents if selectors rely on inherited values.',
          path: ['data', 'host_profile'],
        }),
      );
      return;
    }
    const known = [...this.#profiles.keys()];
    for (const { user, name } of this.#missing) {
      this.#report(
        placeProblem(user.yaml, {
          code: 'node.unknown-profile',
          message: `there is no host profile '${name}'`,
          hint: didYouMean(name, known) ?? `Host profiles of this site: ${listed(known)}.`,
          path: ['data', 'host_profile'],
        }),
      );
    }
  }

  #note(user: SiteDocument, name: string): void {
    if (!this.#broken.has(name)) this.#missing.push({ user, name });
  }

  /** Walks up without recursion: a chain may contain all profiles. */
  #resolve(name: string): void {
    const trail: Checked<HostProfileData>[] = [];
    const seen = new Set<string>();
    let next: string | undefined = name;
    while (next !== undefined && !this.#done.has(next)) {
      const profile = this.#profiles.get(next);
      if (!profile) {
        this.#note(trail.at(-1)!.document, next);
        break;
      }
      if (seen.has(next)) {
        this.#reportCycle(trail, next);
        break;
      }
      seen.add(next);
      trail.push(profile);
      next = profile.data.host_profile;
    }
    for (const profile of trail.reverse()) {
      const parent = profile.data.host_profile;
      this.#done.set(profile.document.name, inherit(profile, (parent && this.#done.get(parent)) || NOTHING));
    }
  }

  #reportCycle(trail: readonly Checked<HostProfileData>[], entry: string): void {
    const names = trail.map((profile) => profile.document.name);
    const cycle = names.slice(names.indexOf(entry));
    this.#report(
      placeProblem(trail[names.indexOf(entry)]!.document.yaml, {
        code: 'node.profile-cycle',
        message: `host profiles inherit from each other in a cycle: ${[...cycle, entry].join(' > ')}`,
        hint: 'Remove host_profile from one of them.',
        path: ['data', 'host_profile'],
      }),
    );
  }
}

function inherit({ document, data: own }: Checked<HostProfileData>, parent: Inherited): Inherited {
  return {
    rack: inheritValue(own.metadata?.rack, parent.rack),
    image: inheritValue(own.platform?.image, parent.image),
    kernel: inheritValue(own.platform?.kernel, parent.kernel),
    tags: mergeTags(own.metadata?.tags, parent.tags),
    labels: mergeLabels(own.metadata?.owner_data, parent.labels),
    layout: inheritLayout(document, own, parent.layout),
  };
}

function mergeLabels(
  own: Readonly<Record<string, string | number | boolean>> | undefined,
  parent: Readonly<Record<string, string>> | undefined,
) {
  if (!own) return parent;
  const labels = new Map(Object.entries(parent ?? {}));
  for (const key of Object.keys(own)) if (key.startsWith('!')) labels.delete(key.slice(1));
  for (const [key, value] of Object.entries(own)) if (!key.startsWith('!')) labels.set(key, String(value));
  return Object.fromEntries(labels);
}

function resolveNode(node: Checked<BaremetalNodeData>, inherited: Inherited, layouts: LayoutResolver): ResolvedNode {
  const { document, data } = node;
  const { rack, image, kernel, tags, labels, layout: described } = inherit(node, inherited);
  const layout = layouts.resolve(node, described);
  const dot = document.name.indexOf('.');
  const mac = data.metadata?.boot_mac;
  return {
    name: document.name,
    hostname: dot < 0 ? document.name : document.name.slice(0, dot),
    ...(dot >= 0 && { domain: document.name.slice(dot + 1) }),
    rack: rack ?? null,
    tags: tags ?? [],
    labels: labels ?? {},
    ...(mac !== undefined && { boot_mac: mac.toLowerCase().replaceAll('-', ':') }),
    ...(image && { distro_series: image }),
    ...(kernel && { hwe_kernel: kernel }),
    ...(layout && { layout }),
  };
}

const listed = (names: readonly string[]): string =>
  names.length <= 10 ? names.join(', ') : `${names.slice(0, 10).join(', ')} and ${names.length - 10} more`;
