import type { NetworkSettings } from '@sitewright/maas/machine-layout';
import { type Check, checkOf } from '../../core/checks/check.ts';
import { given } from '../../core/data/given.ts';
import type { GroupPlan } from '../../core/deployment/group-plan.ts';
import { planGroups } from '../../core/deployment/plan-groups.ts';
import { allAtOnceStrategy, type DeploymentStrategy } from '../../core/deployment/strategy.ts';
import type { Limits } from '../../core/permits/limits.ts';
import { type Diagnostic, isError } from '../../core/problems/diagnostic.ts';
import {
  DEFAULT_DEPLOYMENT_CONFIGURATION,
  type DeploymentConfiguration,
  resolveConfiguration,
} from '../deployment-configuration.ts';
import { placeProblem, placeSchemaProblem } from '../diagnostics/place-problem.ts';
import { checkSchema } from '../diagnostics/schema-problems.ts';
import type { ReadLimits } from '../reader/limits.ts';
import { baremetalNodeSchema, hostProfileSchema } from '../schemas/baremetal-node.ts';
import { bootActionSchema, regionSchema } from '../schemas/boot-action.ts';
import { checkDocumentSchema } from '../schemas/check.ts';
import { deploymentConfigurationSchema } from '../schemas/deployment-configuration.ts';
import { deploymentStrategySchema } from '../schemas/deployment-strategy.ts';
import {
  BOOT_ACTION_SCHEMA,
  CHECK_SCHEMA,
  CONFIGURATION_SCHEMA,
  HARDWARE_PROFILE_SCHEMA,
  HOST_PROFILE_SCHEMA,
  type KnownSchema,
  LIMITS_SCHEMA,
  NETWORK_LINK_SCHEMA,
  NETWORK_SCHEMA,
  NODE_SCHEMA,
  REGION_SCHEMA,
  STRATEGY_SCHEMA,
} from '../schemas/envelope.ts';
import { limitsOf, limitsSchema } from '../schemas/limits.ts';
import {
  hardwareProfileSchema,
  type NetworkData,
  type NetworkLinkData,
  networkLinkSchema,
  networkSchema,
} from '../schemas/machine-layout.ts';
import { checkGroupNodes, checkGroups, unknownChecks } from './check-groups.ts';
import { checkLinks } from './check-links.ts';
import { warnAboutNames } from './check-node-names.ts';
import { checkBootActions, checkRegions } from './check-unused.ts';
import { chooseConfiguration, chooseStrategy } from './choose-documents.ts';
import { DocumentSet } from './document-set.ts';
import type { ReportLayout } from './owned-value.ts';
import { inOrderOfPlace } from './place-order.ts';
import { LayoutResolver } from './resolve-layout.ts';
import { resolveNetworks } from './resolve-networks.ts';
import { type ResolvedNode, resolveNodes } from './resolve-nodes.ts';
import type { NamedDocuments, SiteDocument } from './site-document.ts';
import type { SourceFile } from './site-texts.ts';
import { OF_LINKS, OF_NETWORKS, reportWithoutEffect } from './without-effect.ts';

/**
 * A site, ready to deploy: everything that its documents mean. It is stored with their revision as JSON, and all later readers
 * take it from there. A change of its form or of the rules that lead to it therefore needs a migration that resolves the
 * stored revisions again: otherwise `update_site` finds every node changed since the last good revision.
 */
export interface ResolvedSite {
  /** As written, with selectors; null when the site has none: all nodes are one critical group (docs/explain/design.md#deployment-groups). */
  readonly strategy: DeploymentStrategy | null;
  /** Name of the strategy document; null when there is none. */
  readonly strategyName: string | null;
  readonly configuration: DeploymentConfiguration;
  readonly nodes: readonly ResolvedNode[];
  /** The groups of the strategy with their nodes; one of all nodes when there is no strategy. */
  readonly groups: readonly GroupPlan[];
  /** Settings for MAAS at the subnets of the nodes' networks. */
  readonly networks: readonly NetworkSettings[];
  /** Absent if no document limits the changes of its machines. */
  readonly limits?: Limits;
  /** Absent if there are none. */
  readonly checks?: readonly Check[];
}

interface LoadSiteOptions {
  readonly limits?: Partial<ReadLimits>;
  /**
   * Whether a site must have a DeploymentConfiguration. `optional` is for viewing strategy and nodes
   * alone: the defaults apply then. Default: `required`, as in Shipyard's commit.
   */
  readonly configuration?: 'required' | 'optional';
}

export interface LoadedSite {
  /** Absent when there is any error. */
  readonly site?: ResolvedSite;
  /** Errors, warnings and remarks, in the order of files and lines. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads all documents of a site and checks them, alone and together. Reports every problem with its
 * place. Layering and substitution are not applied (a warning says so).
 */
export function loadSite(files: readonly SourceFile[], options: LoadSiteOptions = {}): LoadedSite {
  const diagnostics: Diagnostic[] = [];
  const report = (diagnostic: Diagnostic): void => {
    diagnostics.push(diagnostic);
  };
  const documents = new DocumentSet(files, options.limits ?? {}, report);

  const nodes = checkEach(documents.of(NODE_SCHEMA), baremetalNodeSchema, report, true);
  const profiles = checkEach(documents.of(HOST_PROFILE_SCHEMA), hostProfileSchema, report, true);
  const configurations = checkEach(documents.of(CONFIGURATION_SCHEMA), deploymentConfigurationSchema, report);
  const strategies = checkEach(documents.of(STRATEGY_SCHEMA), deploymentStrategySchema, report, true);

  const named = <Data>(schema: KnownSchema, of: Parameters<typeof checkSchema<Data>>[0]): NamedDocuments<Data> => ({
    checked: new Map(checkEach(documents.of(schema), of, report, true).map((one) => [one.name, one])),
    names: documents.names(schema),
    schema,
  });
  const limits = checkEach(documents.of(LIMITS_SCHEMA), limitsSchema, report);
  const links = named(NETWORK_LINK_SCHEMA, networkLinkSchema);
  const networks = named(NETWORK_SCHEMA, networkSchema);
  const layouts = new LayoutResolver({
    links,
    networks,
    hardware: named(HARDWARE_PROFILE_SCHEMA, hardwareProfileSchema),
    isIncomplete: documents.incomplete,
    report,
  });

  const goodProfiles = new Set(profiles.map((profile) => profile.name));
  const badProfiles = documents.names(HOST_PROFILE_SCHEMA).filter((name) => !goodProfiles.has(name));
  // An unreadable document may be the one that seems to be missing.
  const resolved = resolveNodes(nodes, profiles, new Set(badProfiles), report, layouts, documents.incomplete);
  warnAboutNames(nodes, report);
  const reportAt: ReportLayout = ({ document, path }, { under = [], ...problem }) =>
    report(placeProblem(document.yaml, { ...problem, path: [...path, ...under] }));
  checkNetworking({ links, networks, isIncomplete: documents.incomplete }, reportAt);
  checkBootActions(checkEach(documents.of(BOOT_ACTION_SCHEMA), bootActionSchema, report), reportAt);
  checkRegions(checkEach(documents.of(REGION_SCHEMA), regionSchema, report), reportAt);
  const settings = resolveNetworks([...networks.checked.values()], reportAt);
  const used = new Set(
    resolved.flatMap(({ layout }) => layout?.ports ?? []).flatMap((port) => port.networks.map((one) => one.network)),
  );

  const checks = checkEach(documents.of(CHECK_SCHEMA), checkDocumentSchema, report);
  for (const { data, yaml } of strategies) {
    const strategy = data as DeploymentStrategy;
    for (const diagnostic of [...checkGroups(strategy, yaml), ...unknownChecks(strategy, yaml, documents)])
      report(diagnostic);
  }
  const required = (options.configuration ?? 'required') === 'required';
  const configuration = chooseConfiguration(documents, required, report);
  const checked = configurations.find(({ name }) => name === configuration?.name);
  const values = checked ? resolveConfiguration(checked.data) : DEFAULT_DEPLOYMENT_CONFIGURATION;
  const strategy = chooseStrategy(strategies, documents, configuration, report);

  // Unreadable nodes would make every selector look wrong.
  if (strategy && !documents.incomplete && nodes.length === documents.names(NODE_SCHEMA).length) {
    const data = strategy.data as DeploymentStrategy;
    const places = nodes.map((node) => node.yaml);
    for (const diagnostic of checkGroupNodes(data, strategy.yaml, resolved, places)) report(diagnostic);
  }
  documents.reportUse(nodes.length);

  const sorted = inOrderOfPlace(diagnostics, files);
  if (sorted.some(isError)) return { diagnostics: sorted };
  const written = (strategy?.data as DeploymentStrategy | undefined) ?? null;
  return {
    site: {
      strategy: written,
      strategyName: strategy?.name ?? null,
      configuration: values,
      nodes: resolved,
      groups: planGroups(written ?? allAtOnceStrategy(), resolved),
      networks: settings.filter(({ network }) => used.has(network)),
      ...given({ limits: limitsOf(limits.map(({ data }) => data)) }),
      ...(checks.length > 0 && { checks: checks.map(({ name, data }) => checkOf(name, data)) }),
    },
    diagnostics: sorted,
  };
}

interface Networking {
  readonly links: NamedDocuments<NetworkLinkData>;
  readonly networks: NamedDocuments<NetworkData>;
  readonly isIncomplete: boolean;
}

/** Links and networks as a whole, whether or not a node is on them. */
function checkNetworking({ links, networks, isIncomplete }: Networking, report: ReportLayout): void {
  const all = [...links.checked.values()];
  reportWithoutEffect(all, OF_LINKS, report);
  reportWithoutEffect([...networks.checked.values()], OF_NETWORKS, report);
  checkLinks(all, networks, isIncomplete, report);
}

function checkEach<Data>(
  documents: readonly SiteDocument[],
  schema: Parameters<typeof checkSchema<Data>>[0],
  report: (diagnostic: Diagnostic) => void,
  warnUnknownKeys = false,
): SiteDocument<Data>[] {
  return documents.flatMap((document) => {
    const result = checkSchema(schema, document.data, { at: ['data'], warnUnknownKeys });
    for (const problem of result.ok ? result.warnings : result.problems)
      report(placeSchemaProblem(document.yaml, problem));
    return result.ok ? [{ ...document, data: result.value }] : [];
  });
}
