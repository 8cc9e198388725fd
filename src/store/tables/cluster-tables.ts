import type { Json, JsonFields, JsonObject } from '../ports/page.js';
import { count, flag, json, jsonObject, key, reference, serial, siteName, text, textBy, time } from './column.js';

const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;

const mac = () =>
  textBy((value, check, path) => {
    const address = value.toLowerCase().replaceAll('-', ':');
    if (!MAC.test(address)) {
      check.refuse(path, `${path} ${JSON.stringify(value)} is not a MAC address.`, 'Write it as 52:54:00:12:34:56.');
    }
    return address;
  });

/** Names of roles. */
const roles = () => json<readonly string[]>().initially('[]').later();

/** Clusters (Fuel's environments), and the machines they are built of. */
export const clusterTables = {
  cluster: {
    id: serial(),
    /** Unique. */
    name: key(),
    releaseId: reference(),
    /** The release the cluster is to change to. */
    pendingReleaseId: reference().nullable().later(),
    /** `ha_compact`, `multinode` … */
    mode: key().initially('ha_compact'),
    netProvider: key().initially('neutron'),
    /** `new`, `deployment`, `operational`, `partially_deployed`, `stopped`, `error`, `update_error` … */
    status: key().initially('new'),
    /** Site whose machines it is built of. */
    site: siteName().nullable(),
    isLocked: flag().initially(0),
    components: json<readonly Json[], readonly unknown[]>().initially('[]'),
    uiSettings: jsonObject().initially('{}'),
    /** Fuel's editable settings: `{editable: {...}, generated: {...}}`, or as the release gives them. */
    attributes: jsonObject().initially('{}'),
    /** Data uploaded by users in place of what would be worked out: `common`, and by node id. */
    deploymentInfo: json<DeploymentInfo<JsonObject>, DeploymentInfo<JsonFields>>()
      .initially('{"common":{},"nodes":{}}')
      .later(),
    networkConfig: jsonObject().initially('{}'),
    /** What `policy: any` took before, by the key the planner gives it: it takes the same again while it can. */
    anyChoices: jsonObject().initially('{}').later(),
    createdAt: time().internal(),
    updatedAt: time().internal(),
  },
  clusterClaim: {
    clusterId: reference(),
    workflowId: key(),
    runId: key(),
    claimedAt: time(),
  },
  clusterPrimary: {
    clusterId: reference(),
    tag: key(),
    nodeId: reference(),
  },
  /** A machine of the inventory, whether of a cluster or not. */
  node: {
    id: serial(),
    /** Made up when absent. */
    uuid: key().derived(),
    name: key(),
    /** Unique within a site; `node-ID` when absent. */
    hostname: key().derived(),
    site: siteName().nullable(),
    /** Lower case, with colons; unique. */
    mac: mac().nullable(),
    ip: key().nullable(),
    clusterId: reference().nullable().internal(),
    /** What it is deployed as. */
    roles: roles(),
    /** What it is to become at the next deployment, beside its roles. */
    pendingRoles: roles(),
    /** Tags it is primary for. */
    primaryRoles: roles(),
    /** `discover`, `provisioning`, `provisioned`, `deploying`, `ready`, `error`, `stopped`, `removing` … */
    status: key().initially('discover'),
    online: flag().initially(1),
    pendingAddition: flag().initially(0).later(),
    pendingDeletion: flag().initially(0).later(),
    /** What failed: `deploy`, `provision`, `deletion` … */
    errorType: key().nullable().later(),
    errorMsg: text().nullable().later(),
    /** Percent of the run under way. */
    progress: count().initially(0).later(),
    groupId: count().nullable(),
    platformName: text().nullable(),
    manufacturer: text().nullable(),
    osPlatform: text().nullable(),
    /** Hardware, as discovered. */
    meta: jsonObject().initially('{}'),
    /** Settings of this node. */
    attributes: jsonObject().initially('{}'),
    labels: json<Readonly<Record<string, string | null>>>().initially('{}'),
    /** What its agent reported last. */
    facts: jsonObject().initially('{}'),
    /** When it last reported; ISO 8601. */
    timestamp: time().derived(),
    createdAt: time().internal(),
    updatedAt: time().internal(),
  },
};

export interface DeploymentInfo<T> {
  readonly common: T;
  readonly nodes: Readonly<Record<string, T>>;
}
