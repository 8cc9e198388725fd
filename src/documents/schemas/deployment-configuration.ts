import { z } from 'zod';

const seconds = (what: string) => z.int().min(0).describe(`${what} Seconds.`).optional();
const poll = (what: string) => seconds(`Poll interval for ${what}.`);
const limit = (what: string) => seconds(`Time limit of ${what}.`);

/** `data` of shipyard/DeploymentConfiguration/v1. Sections allow no unknown keys. */
export const deploymentConfigurationSchema = z.strictObject({
  physical_provisioner: z
    .strictObject({
      deployment_strategy: z.string().describe('Name of the DeploymentStrategy document to use.').optional(),
      deploy_interval: poll('a deploy call'),
      deploy_timeout: limit('a deploy call'),
      destroy_interval: poll('the release of nodes'),
      destroy_timeout: limit('the release of nodes'),
      join_wait: seconds('Pause after a deploy call before the cluster is checked; 0 for none.'),
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
        .describe('Nodes of one call that are processed at the same time. Not a key of Shipyard.')
        .optional(),
    })
    .optional(),
  kubernetes: z
    .strictObject({
      node_status_interval: poll('nodes joining the cluster'),
      node_status_timeout: limit('waiting for nodes to join the cluster'),
    })
    .optional(),
  kubernetes_provisioner: z
    .strictObject({
      drain_timeout: limit('draining a node'),
      drain_grace_period: seconds('Time for the pods of a drained node to end.'),
      clear_labels_timeout: limit('removing the labels of a node'),
      remove_etcd_timeout: limit('removing a node from etcd'),
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
