import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { type Answer, type ApiRig, apiAlone, type Method } from './api-rig.ts';

/** One exchange of the recorded session with Fuel's own API. */
export interface Exchange {
  readonly method?: Method;
  readonly url?: string;
  readonly request?: unknown;
  readonly status?: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly response?: any;
}

const transcript = JSON.parse(
  readFileSync(new URL('../data/fuel/rest-transcript.json', import.meta.url), 'utf8'),
) as readonly Exchange[];

/** The recorded exchange of this request. */
export function recorded(method: Method, url: string, status: number): Exchange {
  const found = transcript.find((one) => one.method === method && one.url === url && one.status === status);
  expect(found, `${method} ${url} ${status} is not in the recorded session`).toBeDefined();
  return found!;
}

const compute = recorded('GET', '/releases/1/roles/compute/', 200).response;

/** A release small enough to read, with everything that the inventory uses. */
export const newton = {
  name: 'Newton on Ubuntu',
  version: 'newton-10.0',
  operating_system: 'Ubuntu',
  description: 'For tests.',
  roles_metadata: {
    controller: {
      name: 'Controller',
      description: 'API and scheduling.',
      conflicts: ['compute'],
      tags: ['controller', 'database'],
    },
    compute: compute.meta,
    cinder: { name: 'Cinder', description: 'Volumes.' },
    'base-os': { name: 'Base', description: 'Nothing else.', conflicts: '*' },
  },
  tags_metadata: {
    controller: { has_primary: true },
    database: { has_primary: true },
    compute: { has_primary: false },
  },
  volumes_metadata: {
    volumes: [{ id: 'os' }, { id: 'vm' }],
    volumes_roles_mapping: { compute: compute.volumes_roles_mapping },
  },
  networks_metadata: {
    neutron: {
      networks: [
        { name: 'public', cidr: '172.16.0.0/24', gateway: '172.16.0.1', ip_range: ['172.16.0.2', '172.16.0.126'] },
      ],
      config: { net_l23_provider: 'ovs' },
    },
  },
  attributes_metadata: {
    editable: {
      common: {
        metadata: { label: 'Common', weight: 10 },
        debug: { type: 'checkbox', label: 'Debug', value: false, weight: 1 },
        libvirt_type: {
          type: 'radio',
          label: 'Hypervisor',
          value: 'qemu',
          values: [
            { data: 'kvm', label: 'KVM' },
            { data: 'qemu', label: 'QEMU' },
          ],
        },
      },
      operator_user: {
        metadata: { label: 'Operator' },
        password: { type: 'password', value: { generator: 'password' } },
      },
      storage: { fsid: { type: 'hidden', value: { generator: 'uuid4' } } },
      repo_setup: {
        repos: { type: 'custom_repo_configuration', value: [{ name: 'ubuntu', uri: 'http://archive.example/' }] },
      },
    },
    generated: {
      mysql: { root_password: { generator: 'password' } },
      cinder: { fixed_key: { generator: 'hexstring', generator_arg: '64' } },
      base_syslog: { syslog_port: { generator: 'identical', generator_arg: '514' } },
    },
  },
  components_metadata: [{ name: 'hypervisor:qemu', compatible: [{ name: 'network:*' }] }],
  modes: ['ha_compact'],
};

export interface FuelRig extends ApiRig {
  /** Like `ask`, below `/api/v1`, with headers as Fuel's client writes them. */
  fuel(method: Method, path: string, body?: unknown): Promise<Answer>;
  /** The same, refused: the answer's body, checked for the members of every problem. */
  refused(
    method: Method,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; message: string; hint?: string; paths: readonly string[] }>;
  /** Created, with its id. */
  made(path: string, body: unknown): Promise<number>;
}

export async function fuelRig(): Promise<FuelRig> {
  const rig = await apiAlone();
  const fuel: FuelRig['fuel'] = (method, path, body) =>
    rig.ask(method, `/api/v1${path}`, body === undefined ? undefined : JSON.stringify(body), {
      'content-type': 'application/json',
      accept: 'application/json',
      'x-auth-token': '',
      'x-sitewright-user': 'nina',
    });
  return {
    ...rig,
    fuel,
    async refused(method, path, body) {
      const { status, body: answer, headers } = await fuel(method, path, body);
      expect(headers['content-type'], JSON.stringify(answer)).toContain('application/problem+json');
      expect(answer.message).toContain(answer.detail);
      if (answer.hint !== undefined) expect(answer.message).toContain(answer.hint.replace(/\.$/, ''));
      expect(Array.isArray(answer.errors)).toBe(true);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
      return {
        status,
        message: answer.detail,
        hint: answer.hint,
        paths: answer.errors.map((one: { path: string }) => one.path),
      };
    },
    async made(path, body) {
      const { status, body: answer } = await fuel('POST', path, body);
      expect(status, JSON.stringify(answer)).toBe(201);
      return answer.id as number;
    },
  };
}

/** Shape of a value: its keys and kinds, lists by their first item. */
export function keysOf(value: object): readonly string[] {
  return Object.keys(value).sort();
}
