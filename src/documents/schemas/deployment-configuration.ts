import { z } from 'zod';

const seconds = (what: string) => z.int().min(0).describe(`${what} Seconds.`).optional();
const poll = (what: string) => seconds(`Time between two looks at ${what}.`);
const limit = (what: string) => seconds(`Time limit of ${what}.`);

/** `data` of shipyard/DeploymentConfiguration/v1. Sections take no unknown keys. */
export const deploymentConfigurationSchema = z.strictObject({
  physical_provisioner: z
    .strictObject({
      deployment_strategy: z.string().describe('Name of the DeploymentStrategy document to use.').optional(),
      deploy_interval: poll('a deploy call'),
      deploy_timeout: limit('a deploy call'),
      destroy_interval: poll('the release of nodes'),
      destroy_timeout: limit('the release of nodes'),
      join_wait: seconds('Pause after a deploy call before looking at the cluster; 0 is no pause.'),
      prepare_node_interval: poll('a prepare call'),
      prepare_node_timeout: limit('a prepare call'),
      prepare_site_interval: poll('the preparation of the site'),
      prepare_site_timeout: limit('the preparation of the site'),
      relabel_nodes_interval: poll('relabelling'),
      relabel_nodes_timeout: limit('relabelling'),
      verify_interval: poll('the verification of the site'),
      verify_timeout: limit('the verification of the site'),
      max_parallel_nodes: z
        .int()
        .min(1)
        .describe('Nodes of one call that are worked on at the same time. An addition of this program.')
        .optional(),
    })
    .optional(),
  kubernetes: z
    .strictObject({
      node_status_interval: poll('whether nodes have joined the cluster'),
      node_status_timeout: limit('waiting for nodes to join the cluster'),
    })
    .optional(),
  kubernetes_provisioner: z
    .strictObject({
      drain_timeout: limit('draining a node'),
      drain_grace_period: seconds('Time that pods of a drained node have to end.'),
      clear_labels_timeout: limit('taking the labels off a node'),
      remove_etcd_timeout: limit('taking a node out of etcd'),
      etcd_ready_timeout: limit('waiting for etcd to be ready'),
    })
    .optional(),
  armada: z
    .strictObject({
      manifest: z.string().min(1).describe('Name of the software manifest.'),
      update_manifest: z.string().min(1).describe('Name of the software manifest for updates.').optional(),
      get_releases_timeout: limit('reading the releases'),
      get_status_timeout: limit('reading the status'),
      post_apply_timeout: limit('deploying the software'),
      validate_design_timeout: limit('validating the manifest'),
    })
    .describe('Deployment of the software; its manifest must be named.'),
});

export type DeploymentConfigurationData = z.infer<typeof deploymentConfigurationSchema>;
