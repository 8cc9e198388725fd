import type { DeploymentConfigurationData } from './schemas/deployment-configuration.ts';

/**
 * A DeploymentConfiguration with all defaults applied. Field names are the document's; all times are
 * seconds. A configured 0 is 0 (docs/explain/design.md#deployment-groups), unlike in Shipyard, which takes it for "not set".
 */
export interface DeploymentConfiguration {
  readonly physical_provisioner: {
    /** Name of the strategy document, null when the document names none. */
    readonly deployment_strategy: string | null;
    readonly deploy_interval: number;
    readonly deploy_timeout: number;
    readonly destroy_interval: number;
    readonly destroy_timeout: number;
    readonly join_wait: number;
    readonly prepare_node_interval: number;
    readonly prepare_node_timeout: number;
    readonly prepare_site_interval: number;
    readonly prepare_site_timeout: number;
    readonly relabel_nodes_interval: number;
    readonly relabel_nodes_timeout: number;
    readonly verify_interval: number;
    readonly verify_timeout: number;
    readonly max_parallel_nodes: number;
  };
  readonly kubernetes: { readonly node_status_interval: number; readonly node_status_timeout: number };
  readonly kubernetes_provisioner: {
    readonly drain_timeout: number;
    readonly drain_grace_period: number;
    readonly clear_labels_timeout: number;
    readonly remove_etcd_timeout: number;
    readonly etcd_ready_timeout: number;
  };
  readonly armada: {
    readonly manifest: string;
    readonly update_manifest: string;
    readonly get_releases_timeout: number;
    readonly get_status_timeout: number;
    readonly post_apply_timeout: number;
    readonly validate_design_timeout: number;
  };
}

/**
 * Defaults for values the document does not set: Shipyard's own (reference/shipyard §1), and as
 * many nodes at a time as Drydock has threads for (§6).
 */
export const DEFAULT_DEPLOYMENT_CONFIGURATION: DeploymentConfiguration = {
  physical_provisioner: {
    deployment_strategy: null,
    deploy_interval: 30,
    deploy_timeout: 3600,
    destroy_interval: 30,
    destroy_timeout: 900,
    join_wait: 120,
    prepare_node_interval: 30,
    prepare_node_timeout: 1800,
    prepare_site_interval: 10,
    prepare_site_timeout: 300,
    relabel_nodes_interval: 30,
    relabel_nodes_timeout: 900,
    verify_interval: 10,
    verify_timeout: 60,
    max_parallel_nodes: 64,
  },
  kubernetes: { node_status_interval: 30, node_status_timeout: 1800 },
  kubernetes_provisioner: {
    drain_timeout: 3600,
    drain_grace_period: 1800,
    clear_labels_timeout: 1800,
    remove_etcd_timeout: 1800,
    etcd_ready_timeout: 600,
  },
  armada: {
    manifest: 'full-site',
    update_manifest: 'full-site',
    get_releases_timeout: 300,
    get_status_timeout: 300,
    post_apply_timeout: 2700,
    validate_design_timeout: 600,
  },
};

/** Fills in the defaults, key by key. An empty strategy name counts as none. */
export function resolveConfiguration(data: DeploymentConfigurationData): DeploymentConfiguration {
  const defaults = DEFAULT_DEPLOYMENT_CONFIGURATION;
  const physical = fill(defaults.physical_provisioner, data.physical_provisioner);
  return {
    physical_provisioner: { ...physical, deployment_strategy: physical.deployment_strategy || null },
    kubernetes: fill(defaults.kubernetes, data.kubernetes),
    kubernetes_provisioner: fill(defaults.kubernetes_provisioner, data.kubernetes_provisioner),
    armada: fill(defaults.armada, data.armada),
  };
}

function fill<Section extends object>(
  defaults: Section,
  given: { readonly [Key in keyof Section]?: Section[Key] | undefined } | undefined,
): Section {
  const set = Object.entries(given ?? {}).filter(([, value]) => value !== undefined);
  return { ...defaults, ...(Object.fromEntries(set) as Partial<Section>) };
}
