interface Absent {
  /** A name after a colon matches any part of a path, `*` at the end for any rest. */
  readonly paths: readonly string[];
  /** Of the paths; all of them if absent. */
  readonly methods?: readonly string[];
  readonly reason: string;
  /** The equivalent in Sitewright. */
  readonly instead: string;
}

/** Features that Fuel's clients request and Sitewright lacks. */
export const ABSENT_OF_FUEL: readonly Absent[] = [
  {
    paths: ['/api/v1/graphs'],
    methods: ['POST'],
    reason: 'a graph needs an owner and a type: no run uses it without them',
    instead:
      "POST it to /api/v1/clusters/ID/deployment_graphs/TYPE, /api/v1/releases/… or /api/v1/plugins/…, or run 'sitewright graph upload --cluster ID --type TYPE --file FILE'",
  },
  {
    paths: ['/api/v1/networks', '/api/v1/networks/:id'],
    reason: 'there are no network groups: the networks of a cluster are one document',
    instead: "change it with 'fuel2 env network download' and 'fuel2 env network upload'",
  },
  {
    paths: ['/api/v1/nodegroups', '/api/v1/nodegroups/:id'],
    reason: 'there are no node groups: nodes are grouped by labels, and by racks and tags in the documents of a site',
    instead: "use 'fuel2 node label set', or the deployment strategy of the site",
  },
  {
    paths: [
      '/api/v1/clusters/:id/network_configuration/ips/vips',
      '/api/v1/clusters/:id/network_configuration/ips/:ip/vips',
    ],
    reason: 'runs of a site choose virtual addresses and reserve them in MAAS: they are in the network configuration',
    instead: "read or set 'vips' with 'fuel2 env network download' and 'upload'",
  },
  {
    paths: ['/api/v1/clusters/:id/reset'],
    reason: 'a cluster does not erase machines: MAAS releases and deploys them, in a run of their site',
    instead: "run 'sitewright site redeploy SITE NODE', then 'fuel2 env redeploy ID'",
  },
  {
    paths: ['/api/v1/clusters/:id/spawn_vms', '/api/v1/nodes/:id/vms_conf'],
    reason: 'virtual machines come from MAAS, not from nodes of a cluster',
    instead: "compose them on a VM host of MAAS and add them with 'fuel2 env add nodes'",
  },
  {
    paths: ['/api/v1/clusters/:id/extensions'],
    methods: ['PUT', 'DELETE'],
    reason: 'extensions act on all clusters, so they are not enabled or disabled for one',
    instead: "change the setting tags.extensions; 'fuel2 extension list' shows what is loaded",
  },
  {
    paths: ['/api/v1/logs/package', '/api/v1/logs/package/config/default', '/api/v1/logs', '/api/v1/logs/sources'],
    reason: 'there are no diagnostic snapshots: each run keeps its own report and the output of its tasks',
    instead: "run 'sitewright doctor', 'sitewright run report RUN' and 'sitewright run logs RUN TASK@NODE'",
  },
  {
    paths: ['/api/v1/notifications', '/api/v1/notifications/:id'],
    reason: 'there are no notifications to read: see runs and the audit trail',
    instead: "run 'sitewright run list' or 'sitewright audit list'",
  },
  {
    paths: ['/api/v1/openstack-config', '/api/v1/openstack-config/*'],
    reason: 'there are no OpenStack configurations: tasks read what they apply from the settings of the cluster',
    instead:
      "put the values there ('sitewright cluster settings ID --upload FILE'; $.GROUP.NAME in tasks) and run the tasks that apply them: 'sitewright graph execute --cluster ID --tasks TASK', or 'sitewright cluster deploy ID' if their condition is changed($.GROUP). For tasks that read $.configs, give them as 'configuration' of nodes with 'sitewright cluster facts ID --upload FILE'",
  },
  {
    paths: ['/ostf/*'],
    reason: 'there are no built-in health checks of OpenStack',
    instead:
      "check a cluster before a run with 'sitewright cluster check ID'; put tests after it into a graph, such as of type health, and run it with 'fuel2 graph execute -e ID -t health'",
  },
];
