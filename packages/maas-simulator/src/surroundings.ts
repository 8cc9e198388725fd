import {
  badRequest,
  deleted,
  invalidForm,
  invalidRequest,
  json,
  notFound,
  plainJson,
  publicJson,
  refuse,
  text,
} from './answer.ts';
import { type Handler, requireRight } from './call.ts';
import { usersOf } from './oauth.ts';
import type { Image } from './records.ts';
import { testScripts } from './test-scripts.ts';
import { viewUser } from './users.ts';
import { versionTraits } from './versions.ts';

const base = '/MAAS/api/2.0';

/** Needs no key. */
export const version: Handler = ({ region }) =>
  publicJson({
    capabilities: [
      'networks-management',
      'static-ipaddresses',
      'ipv6-deployment-ubuntu',
      'devices-management',
      'storage-deployment-ubuntu',
      'network-deployment-ubuntu',
      'bridging-interface-ubuntu',
      'bridging-automatic-ubuntu',
      'authenticate-api',
    ],
    version: versionTraits(region.version).release,
    subversion: '',
  });

export const whoami: Handler = (call) => json(viewUser(call.user.username));

export const listUsers: Handler = ({ region }) =>
  json(usersOf(region.version).map(({ username }) => viewUser(username)));

export const readUser: Handler = (call) =>
  json(
    viewUser(
      usersOf(call.region.version).find(({ username }) => username === call.parts[0])?.username ??
        refuse(notFound('User')),
    ),
  );

/** The names of the caller's keys, never the keys. */
export const listTokens: Handler = (call) => json([{ name: `${call.user.username}'s key` }]);

// Settings.

const settings: Readonly<Record<string, unknown>> = {
  maas_name: 'simulated',
  theme: '',
  kernel_opts: '',
  enable_http_proxy: true,
  maas_proxy_port: 8000,
  use_peer_proxy: false,
  prefer_v4_proxy: false,
  http_proxy: '',
  default_dns_ttl: 30,
  upstream_dns: '',
  dnssec_validation: 'auto',
  maas_internal_domain: 'maas-internal',
  dns_trusted_acl: '',
  ntp_servers: '',
  ntp_external_only: false,
  allow_only_trusted_transfers: false,
  remote_syslog: '',
  maas_syslog_port: 5247,
  network_discovery: 'enabled',
  active_discovery_interval: 10800,
  default_boot_interface_link_type: 'auto',
  default_osystem: 'ubuntu',
  default_distro_series: 'noble',
  default_min_hwe_kernel: '',
  enable_kernel_crash_dump: false,
  default_storage_layout: 'flat',
  commissioning_distro_series: 'noble',
  enable_third_party_drivers: true,
  windows_kms_host: '',
  enable_disk_erasing_on_release: false,
  disk_erase_with_secure_erase: true,
  disk_erase_with_quick_erase: false,
  boot_images_auto_import: true,
  boot_images_no_proxy: false,
  curtin_verbose: true,
  force_v1_network_yaml: false,
  enable_analytics: false,
  completed_intro: true,
  max_node_commissioning_results: 10,
  max_node_testing_results: 10,
  max_node_installation_results: 3,
  max_node_release_results: 3,
  subnet_ip_exhaustion_threshold_count: 16,
  release_notifications: true,
  use_rack_proxy: true,
  node_timeout: 30,
  prometheus_enabled: false,
  prometheus_push_gateway: '',
  prometheus_push_interval: 60,
  promtail_enabled: false,
  promtail_port: 5238,
  enlist_commissioning: true,
  maas_auto_ipmi_user: 'maas',
  maas_auto_ipmi_user_privilege_level: 'ADMIN',
  maas_auto_ipmi_k_g_bmc_key: '',
  maas_auto_ipmi_cipher_suite_id: '3',
  maas_auto_ipmi_workaround_flags: '',
  vcenter_server: '',
  vcenter_username: '',
  vcenter_password: '',
  vcenter_datacenter: '',
  hardware_sync_interval: '15m',
  tls_cert_expiration_notification_enabled: false,
  tls_cert_expiration_notification_interval: 30,
  session_length: 1209600,
  auto_vlan_creation: true,
};

function settingName(name: string | null): string {
  if (name === null) return refuse(badRequest('No provided name!'));
  if (Object.hasOwn(settings, name)) return name;
  const known = Object.keys(settings).join(', ');
  return refuse(invalidRequest({ [name]: [`${name} is not a valid config setting (valid settings are: ${known}).`] }));
}

export const getConfig: Handler = (call) => {
  if (!versionTraits(call.region.version).hasEntitlements) requireRight(call, 'can_edit_configurations');
  const name = settingName(call.query.text('name'));
  const changed = call.region.settings.get(name);
  return plainJson(changed ? changed.value : settings[name]);
};

/** The value gets the type of the setting's default; values that do not fit are refused. */
export const setConfig: Handler = (call) => {
  requireRight(call, 'can_edit_configurations');
  const { form, region } = call;
  const name = settingName(form.text('name'));
  const given = form.get('value') ?? '';
  const usual = settings[name];
  let value: unknown = given;
  if (typeof usual === 'boolean') value = form.flag('value');
  if (typeof usual === 'number') {
    if (!/^\d+$/.test(given)) refuse(invalidForm({ [name]: ['Enter a whole number.'] }));
    value = Number(given);
  }
  if (
    name === 'default_distro_series' &&
    !region.images.has(`ubuntu/${given}`) &&
    !region.images.has(`custom/${given}`)
  ) {
    const message = `Select a valid choice. ${given} is not one of the available choices.`;
    refuse(invalidForm({ [name]: [message] }));
  }
  region.settings.put(name, { value });
  return text('OK');
};

// Images.

function viewImage(image: Readonly<Image>): object {
  const kernels = image.kernels.length > 0 ? ['generic', ...image.kernels].join(',') : 'generic';
  return {
    id: image.id,
    type: image.type,
    name: image.name,
    architecture: `${image.architecture}/${image.kernels[0] ?? 'generic'}`,
    resource_uri: `${base}/boot-resources/${image.id}/`,
    last_deployed: image.lastDeployed,
    platform: 'generic',
    subarches: kernels,
    supported_platforms: 'generic',
  };
}

export const listImages: Handler = (call) => {
  const type = call.query.text('type')?.toLowerCase() ?? 'all';
  const images = [...call.region.images.values()].filter(
    (image) => type === 'all' || image.type.toLowerCase() === type,
  );
  return json(images.map(viewImage));
};

export const readImage: Handler = (call) => {
  const image = [...call.region.images.values()].find(({ id }) => String(id) === call.parts[0]);
  return json(viewImage(image ?? refuse(notFound('BootResource'))));
};

/** Nothing is ever downloaded: images are rows. */
export const isImporting: Handler = () => json(false);

export const importImages: Handler = (call) => {
  requireRight(call, 'can_edit_boot_entities');
  return text('Import of boot resources started');
};

export const stopImport: Handler = (call) => {
  requireRight(call, 'can_edit_boot_entities');
  return text('Import of boot resources is being stopped');
};

/** An uploaded image, complete immediately; its content is dropped. */
export const createImage: Handler = (call) => {
  requireRight(call, 'can_edit_boot_entities');
  const { form, region } = call;
  const errors: Record<string, readonly string[]> = {};
  for (const field of ['name', 'architecture']) {
    if (form.text(field) === null) errors[field] = ['This field is required.'];
  }
  if (Object.keys(errors).length > 0) refuse(invalidForm(errors));
  const [architecture = 'amd64'] = (form.text('architecture') ?? '').split('/');
  const given = form.text('name') ?? '';
  const name = given.includes('/') ? given : `custom/${given}`;
  region.addImage(name, '', [], architecture);
  return json(viewImage(region.images.get(name) as Image));
};

export const deleteImage: Handler = (call) => {
  requireRight(call, 'can_edit_boot_entities');
  for (const [name, image] of call.region.images.entries()) {
    if (String(image.id) === call.parts[0]) call.region.images.delete(name);
  }
  return deleted();
};

/** For lists that are empty in a simulated region. */
export const emptyList: Handler = () => json([]);

export const listRegionControllers: Handler = ({ region }) =>
  json([
    {
      system_id: 'region',
      hostname: 'simulator',
      fqdn: 'simulator.maas',
      node_type_name: 'Region controller',
      version: versionTraits(region.version).release,
    },
  ]);

// Scripts.

const scriptTypes = [
  { type: 0, name: 'commissioning', typeName: 'Commissioning script', scripts: [] },
  { type: 2, name: 'testing', typeName: 'Testing script', scripts: testScripts },
  { type: 3, name: 'release', typeName: 'Release script', scripts: ['wipe-disks'] },
] as const;

export const listScripts: Handler = (call) => {
  const wanted = call.query.text('type');
  const chosen = scriptTypes.filter(({ type, name }) => wanted === null || wanted === name || wanted === String(type));
  return json(
    chosen.flatMap(({ type, typeName, scripts }) =>
      scripts.map((name) => ({
        name,
        type,
        type_name: typeName,
        tags: name === 'wipe-disks' ? ['wipe', 'disk', 'node'] : [],
      })),
    ),
  );
};
