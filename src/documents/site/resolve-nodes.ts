import type { MachineLayout } from '@sitewright/maas/machine-layout';
import type { SiteNode } from '../../core/deployment/strategy.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { someOf } from '../../core/text/text.ts';
import { placeProblem } from '../diagnostics/place-problem.ts';
import type { BaremetalNodeData, HostProfileData } from '../schemas/baremetal-node.ts';
import { type Inherited, inherit, NOTHING } from './inherit.ts';
import type { LayoutResolver } from './resolve-layout.ts';
import type { SiteDocument } from './site-document.ts';

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

/**
 * Nodes with the values of their host profiles, by Drydock's rules: the node's own value first, then
 * its profile's, then that profile's own profile's; tags and labels are merged; `!name` removes an inherited
 * tag or label, a lone `!` an inherited value.
 *
 * Unknown profiles are errors, unless the site has no profile documents at all: then one warning says
 * that nodes have only their own values.
 */
export function resolveNodes(
  nodes: readonly SiteDocument<BaremetalNodeData>[],
  profiles: readonly SiteDocument<HostProfileData>[],
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
  readonly #profiles: ReadonlyMap<string, SiteDocument<HostProfileData>>;
  readonly #broken: ReadonlySet<string>;
  readonly #report: (diagnostic: Diagnostic) => void;
  readonly #done = new Map<string, Inherited>();
  readonly #missing: { readonly user: SiteDocument; readonly name: string }[] = [];

  constructor(
    profiles: readonly SiteDocument<HostProfileData>[],
    broken: ReadonlySet<string>,
    report: (diagnostic: Diagnostic) => void,
  ) {
    this.#profiles = new Map(profiles.map((profile) => [profile.name, profile]));
    this.#broken = broken;
    this.#report = report;
    // Every profile, used or not: a cycle of profiles is an error even when no node uses it.
    for (const name of this.#profiles.keys()) this.#resolve(name);
    // What only unused profiles lack matters to no one.
    this.#missing.length = 0;
  }

  inheritedBy(user: SiteDocument<BaremetalNodeData>): Inherited {
    const name = user.data.host_profile;
    if (name === undefined) return NOTHING;
    if (!this.#profiles.has(name)) this.#note(user, name);
    for (let at = this.#profiles.get(name), seen = 0; at && seen <= this.#profiles.size; seen += 1) {
      const next = at.data.host_profile;
      if (next !== undefined && !this.#profiles.has(next)) this.#note(at, next);
      at = next === undefined ? undefined : this.#profiles.get(next);
    }
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
          hint: didYouMean(name, known) ?? `Host profiles of this site: ${someOf(known, 10)}.`,
          path: ['data', 'host_profile'],
        }),
      );
    }
  }

  #note(user: SiteDocument, name: string): void {
    if (this.#broken.has(name) || this.#missing.some((one) => one.user === user)) return;
    this.#missing.push({ user, name });
  }

  /** Walks up without recursion: a chain may contain all profiles. */
  #resolve(name: string): void {
    const trail: SiteDocument<HostProfileData>[] = [];
    const seen = new Set<string>();
    let next: string | undefined = name;
    while (next !== undefined && !this.#done.has(next)) {
      const profile = this.#profiles.get(next);
      if (!profile) {
        this.#note(trail.at(-1)!, next);
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
      this.#done.set(profile.name, inherit(profile, (parent && this.#done.get(parent)) || NOTHING));
    }
  }

  #reportCycle(trail: readonly SiteDocument<HostProfileData>[], entry: string): void {
    const names = trail.map((profile) => profile.name);
    const cycle = names.slice(names.indexOf(entry));
    this.#report(
      placeProblem(trail[names.indexOf(entry)]!.yaml, {
        code: 'node.profile-cycle',
        message: `host profiles inherit from each other in a cycle: ${[...cycle, entry].join(' > ')}`,
        hint: 'Remove host_profile from one of them.',
        path: ['data', 'host_profile'],
      }),
    );
  }
}

function resolveNode(
  node: SiteDocument<BaremetalNodeData>,
  inherited: Inherited,
  layouts: LayoutResolver,
): ResolvedNode {
  const { name, data } = node;
  const described = inherit(node, inherited);
  const { rack, image, kernel, tags, labels } = described;
  const layout = layouts.resolve(node, described);
  const dot = name.indexOf('.');
  const mac = data.metadata?.boot_mac;
  return {
    name,
    hostname: dot < 0 ? name : name.slice(0, dot),
    ...(dot >= 0 && { domain: name.slice(dot + 1) }),
    rack: rack ?? null,
    tags: tags ?? [],
    labels: labels ?? {},
    ...(mac !== undefined && { boot_mac: mac.toLowerCase().replaceAll('-', ':') }),
    ...(image && { distro_series: image }),
    ...(kernel && { hwe_kernel: kernel }),
    ...(layout && { layout }),
  };
}
