import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load, loadAll } from 'js-yaml';
import { afterAll, describe, expect, it } from 'vitest';
import { CHART_SCHEMA, chartSchema, SET_BY_CHART } from '../../../scripts/chart-schema.ts';
import { loadSettings } from '../../../src/platform/settings/load-settings.ts';
import { type Settings, settingDefinitions } from '../../../src/platform/settings/settings.ts';
import { MOST_MEGABYTES, rehearsalMegabytes } from '../../../worker/parts/rehearsals/rehearser.ts';
import {
  CHART,
  hasHelm,
  helm,
  insecurities,
  kubernetesVersions,
  type Manifest,
  objections,
  rendered,
  renderedText,
} from '../../rig/helm.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const VALUES = join(root, 'test/data/helm');
const valuesFiles = readdirSync(VALUES);
const everything = join(VALUES, 'everything.yaml');
const least = load(readFileSync(join(VALUES, 'least.yaml'), 'utf8')) as { readonly settings: object };
const templates = readdirSync(join(CHART, 'templates')).map((name) =>
  readFileSync(join(CHART, 'templates', name), 'utf8'),
);

describe('the Helm chart', () => {
  it('accepts exactly the existing settings: `npm run docs:settings` writes its schema', () => {
    const schema = readFileSync(CHART_SCHEMA, 'utf8');
    expect(chartSchema(schema)).toBe(schema);
  });

  it('sets only variables of settings, and all that values cannot set, except secrets', () => {
    const named = templates.flatMap((text) => [...text.matchAll(/\bSITEWRIGHT_[A-Z_]+\b/g)].map(([name]) => name));
    const known = new Map(settingDefinitions.map(({ path, variable }) => [path, variable]));
    // The prefix of computed names, and an example in a comment.
    const set = new Set(named.filter((name) => !['SITEWRIGHT_', 'SITEWRIGHT_TOKEN'].includes(name)));
    expect([...set].filter((name) => ![...known.values()].includes(name))).toEqual([]);
    expect([...SET_BY_CHART].filter((path) => !known.has(path))).toEqual([]);
    const notSet = [...SET_BY_CHART].filter((path) => !set.has(known.get(path) ?? ''));
    expect(notSet).toEqual(['maas.key', 'secrets.directory']);
  });

  it('has the version of the program, and runs commands of its image', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
    expect(load(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'))).toMatchObject({ version, appVersion: version });
    const dockerfile = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8');
    expect(dockerfile).toContain('COPY --from=build /app/deploy ./deploy');
    expect(existsSync(join(root, 'deploy/health.mjs'))).toBe(true);
  });
});

type Fields = Manifest[string];

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly envFrom?: readonly { readonly configMapRef?: { readonly name: string } }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly [field: string]: unknown;
}

const podsOf = (objects: readonly Manifest[]) =>
  objects
    .filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job'].includes(kind))
    .map((object) => ({
      object,
      ...(object.spec.template as {
        readonly metadata: { readonly labels: Record<string, string> };
        readonly spec: Fields;
      }),
    }));

const containersOf = (spec: Fields) => [...(spec.initContainers ?? []), ...spec.containers] as Container[];

const selects = (selector: { readonly matchLabels?: Record<string, string> }, labels: Record<string, string>) =>
  Object.entries(selector.matchLabels ?? {}).every(([name, value]) => labels[name] === value);

// `.ci/kubernetes-tools` builds them; `.ci/run` does so before the tests.
describe.skipIf(!hasHelm)('the Helm chart, by helm and Kubernetes’ schemas', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sitewright-chart-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(valuesFiles.flatMap((file) => kubernetesVersions.map((version) => [file, version])))(
    '%s is right for Kubernetes %s',
    async (name = '', version = '') => {
      const file = join(VALUES, name);
      expect(await helm('lint', '--strict', '--kube-version', version, '--values', file, CHART)).toContain(
        '0 chart(s) failed',
      );
      expect(await objections(await renderedText(file, version), version)).toEqual([]);
    },
  );

  it.each(valuesFiles)('the pods of %s meet the level restricted of the Pod Security Standards', async (name) => {
    const text = await renderedText(join(VALUES, name));
    expect(await insecurities(text)).toEqual([]);
    // It would report it.
    expect(await insecurities(text.replaceAll('drop: [ALL]', 'drop: [NET_RAW]'))).toHaveLength(
      podsOf(loadAll(text) as Manifest[]).length,
    );
  });

  it('the values on its page are valid', async () => {
    const page = readFileSync(join(root, 'docs/how-to/install.md'), 'utf8');
    const [first, ...more] = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(
      ([, text = '']) => load(text) as object,
    );
    expect(more).toHaveLength(1);
    for (const values of [{}, ...more])
      expect(await objections(await renderedText({ ...first, ...values }), kubernetesVersions[0] ?? '')).toEqual([]);
  });

  it('the schemas refuse fields that Kubernetes would drop or refuse', async () => {
    const version = kubernetesVersions.at(-1) ?? '';
    const text = await renderedText(least);
    for (const [from, to] of [
      ['readOnlyRootFilesystem: true', 'readOnlyRootFileSystem: true'],
      ['maxUnavailable: 1', 'maxUnavailable: { a: b }'],
      ['kind: PodDisruptionBudget', 'kind: PodDisruptionBudgets'],
    ] as const)
      expect(await objections(text.replaceAll(from, to), version), to).not.toEqual([]);
  });

  it.each(valuesFiles)('no container of %s runs as root, writes to its image, or may gain rights', async (name) => {
    const file = join(VALUES, name);
    const pods = podsOf(await rendered(file));
    expect(pods.length).toBeGreaterThanOrEqual(3);
    for (const { spec } of pods) {
      expect(spec).toMatchObject({
        automountServiceAccountToken: false,
        // Kubernetes' variables of a service named sitewright-api would be settings of ours: SITEWRIGHT_API_PORT.
        enableServiceLinks: false,
        securityContext: {
          runAsNonRoot: true,
          fsGroupChangePolicy: 'OnRootMismatch',
          seccompProfile: { type: 'RuntimeDefault' },
        },
      });
      expect(spec.securityContext.runAsUser).toBeGreaterThan(0);
      expect(spec.securityContext.fsGroup).toBe(spec.securityContext.runAsUser);
      expect([
        spec.hostNetwork,
        spec.hostPID,
        spec.hostIPC,
        spec.volumes.some((one: object) => 'hostPath' in one),
      ]).toEqual([undefined, undefined, undefined, false]);
      for (const container of containersOf(spec))
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          runAsNonRoot: true,
          capabilities: { drop: ['ALL'] },
          seccompProfile: { type: 'RuntimeDefault' },
        });
    }
  });

  it.each(valuesFiles)('each process of %s reads the settings that the values have', async (name) => {
    const file = join(VALUES, name);
    const values = load(readFileSync(file, 'utf8')) as {
      readonly settings: Partial<Settings>;
      readonly files?: object;
    };
    const objects = await rendered(file);
    const seen: string[] = [];
    for (const { object, spec } of podsOf(objects)) {
      const [container] = containersOf(spec);
      const env = environmentOf(container!, objects);
      const loaded = loadSettings({ cwd: folder, env });
      if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems, null, 1));
      expect(loaded.warnings).toEqual([]);
      seen.push(container!.name);
      if (container!.name === 'ticket') continue;
      expect(loaded.settings.store.url).toMatch(/^postgres(ql)?:/);
      if (object.kind === 'Job') continue;
      // YAML's on and off are true and false.
      const { store: _, ...settings } = JSON.parse(JSON.stringify(values.settings), (_key, value: unknown) =>
        typeof value === 'boolean' ? (value ? 'on' : 'off') : value,
      ) as Partial<Settings>;
      expect(loaded.settings).toMatchObject(settings);
      expect(loaded.settings.access.tokens).toBe(container!.name === 'api' ? 'on' : 'off');
      for (const path of [
        loaded.settings.task_logs.folder,
        ...(container!.name === 'gateway' ? [loaded.settings.gateway.data_dir] : []),
      ])
        expect(container!.volumeMounts.map(({ mountPath }) => mountPath)).toContain(path);
    }
    expect(new Set(seen)).toEqual(
      new Set([
        ...['migrations', 'api', 'worker'],
        ...(name.includes('external') ? [] : ['gateway']),
        ...(name.includes('everything') ? ['ticket'] : []),
      ]),
    );
    const read = podsOf(objects).flatMap(({ spec }) =>
      containersOf(spec).flatMap(({ env = [] }) => env.map(({ name }) => name)),
    );
    for (const path of Object.keys(values.files ?? {}))
      expect(read, path).toContain(settingDefinitions.find((one) => one.path === path)?.variable);
  });

  /** The variables of a container, with the files of Secrets as files here. */
  function environmentOf(container: Container, objects: readonly Manifest[]): NodeJS.ProcessEnv {
    const env: NodeJS.ProcessEnv = {};
    for (const { configMapRef } of container.envFrom ?? []) {
      const map = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === configMapRef?.name);
      Object.assign(env, map?.data);
    }
    for (const { name, value = 'postgres://of-a-secret/db' } of container.env ?? []) {
      env[name] = value.replace('/etc/sitewright/files', join(folder, 'files'));
      if (env[name] === value) continue;
      mkdirSync(dirname(env[name]), { recursive: true });
      writeFileSync(env[name], 'secret', { mode: 0o600 });
    }
    return env;
  }

  it.each(valuesFiles)('each process of %s has probes, a budget, and network policies', async (name) => {
    const file = join(VALUES, name);
    const objects = await rendered(file);
    const of = (kind: string) => objects.filter((object) => object.kind === kind);
    for (const {
      object,
      metadata: { labels },
      spec,
    } of podsOf(objects)) {
      const [container] = containersOf(spec);
      const policies = of('NetworkPolicy').filter((policy) => selects(policy.spec.podSelector, labels));
      expect(
        policies.some(
          ({ spec }) =>
            spec.policyTypes.includes('Ingress') && spec.policyTypes.includes('Egress') && spec.ingress === undefined,
        ),
      ).toBe(true);
      if (object.kind === 'Job') continue;
      // A restart ends tasks on `master`.
      const isAgent = labels['app.kubernetes.io/component'] === 'master-agent';
      for (const probe of isAgent ? [] : ['startupProbe', 'readinessProbe', 'livenessProbe'])
        expect(container, container!.name).toHaveProperty(probe);
      expect(of('PodDisruptionBudget').filter((budget) => selects(budget.spec.selector, labels))).toHaveLength(1);
      const ports = container!.ports?.map(({ name }) => name);
      for (const service of of('Service').filter((one) => selects({ matchLabels: one.spec.selector }, labels)))
        for (const { targetPort } of service.spec.ports) expect(ports).toContain(targetPort);
    }
  });

  it('the agent of `master` is off, and has no variable, secret, volume or way of another pod', async () => {
    const nameOf = ({ metadata }: Manifest): string => metadata.name;
    expect((await rendered(least)).map(nameOf).filter((name) => name.includes('master'))).toEqual([]);
    const objects = await rendered(everything);
    const pod = (name: string) => podsOf(objects).find(({ object }) => nameOf(object) === `metal-sitewright-${name}`)!;
    const { spec, metadata } = pod('master-agent');
    const env = containersOf(spec).flatMap((container) => Object.keys(environmentOf(container, objects)));
    const allowed = /^SITEWRIGHT_(?:TEMPORAL_|LOG_|AGENT_STATE_DIR$)/;
    expect(env.filter((name) => !allowed.test(name))).toEqual([]);
    expect(containersOf(spec).flatMap(({ envFrom = [] }) => envFrom)).toEqual([
      { configMapRef: { name: 'metal-sitewright-master-agent' } },
    ]);
    // With the way to Temporal, which every node has.
    const secrets = [...JSON.stringify(spec).matchAll(/"secret(?:Name)?":(?:\{"name":)?"([^"]+)"/g)].map(
      ([, name]) => name,
    );
    expect(secrets.sort()).toEqual(['encryption', 'master-ticket', 'temporal']);
    const claims = (of: Fields) =>
      of.volumes.flatMap((volume: Fields) => volume.persistentVolumeClaim?.claimName ?? []);
    expect(claims(spec)).toEqual([]);
    expect(claims(pod('gateway').spec)).not.toEqual([]);
    const ways = objects
      .filter(({ kind }) => kind === 'NetworkPolicy')
      .filter(({ spec: { podSelector } }) => {
        const { matchExpressions = [] } = podSelector;
        const component = metadata.labels['app.kubernetes.io/component'];
        return (
          selects(podSelector, metadata.labels) &&
          matchExpressions.every(({ operator, values }: Fields) => values.includes(component) === (operator === 'In'))
        );
      });
    expect(ways.map(nameOf)).toEqual(['metal-sitewright-master-agent']);
    const ports = ways.flatMap((way) => way.spec.egress.flatMap((rule: Fields) => rule.ports));
    expect([...new Set(ports.map(({ port }) => port))]).toEqual([53, 7233, 8443]);
  });

  it('the job that migrates the store runs first, and needs nothing of the chart', async () => {
    const objects = await rendered(least);
    const job = objects.find(({ kind }) => kind === 'Job')!;
    expect(job.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' });
    const { spec } = job.spec.template;
    expect(spec.serviceAccountName).toBeUndefined();
    expect(spec.containers[0]).toMatchObject({ args: ['db', 'migrate', '--non-breaking'] });
    expect(spec.containers[0].envFrom).toBeUndefined();
    const stopped = await rendered({ ...least, migrations: { allowBreaking: true } });
    expect(stopped.find(({ kind }) => kind === 'Job')!.spec.template.spec.containers[0].args).toEqual([
      'db',
      'migrate',
    ]);
  });

  it('opens egress at the ports of the addresses, and nothing else', async () => {
    const policies = (await rendered(everything)).filter(({ kind }) => kind === 'NetworkPolicy');
    const ports = (name: string) =>
      policies
        .find(({ metadata }) => metadata.name === name)!
        .spec.egress.map((rule: Fields) => [
          rule.ports.map(({ port }: { readonly port: number }) => port),
          rule.to === undefined,
        ]);
    expect(ports('metal-sitewright')).toEqual([
      [[53, 53], true],
      [[5433], false],
      [[7233], false],
    ]);
    expect(new Set(ports('metal-sitewright-outside').map(String))).toEqual(
      new Set(['443,false', '443,true', '4318,true', '22,443,true']),
    );
  });

  it('keeps workers of earlier versions next to the current ones', async () => {
    const sets = (await rendered(everything)).filter(
      ({ kind, metadata }) => kind === 'StatefulSet' && metadata.name.includes('-worker'),
    );
    expect(
      sets.map(({ metadata, spec }) => [metadata.name, spec.replicas, spec.template.spec.containers[0].image]),
    ).toEqual([
      ['metal-sitewright-worker', 2, `registry.example/sitewright:0.2.0@sha256:${'a'.repeat(64)}`],
      ['metal-sitewright-worker-0-1-0', 1, 'registry.example/sitewright:0.1.0'],
      ['metal-sitewright-worker-0-1-0-rc-1', 2, 'registry.example/sitewright:0.1.0_rc.1'],
    ]);
    const labels = podsOf(sets).map((pod) => pod.metadata.labels);
    // Each set finds its own pods only.
    for (const { spec } of sets) expect(labels.filter((one) => selects(spec.selector, one))).toHaveLength(1);
  });

  it.each([
    [
      'nothing',
      {},
      ['settings.temporal.address is missing', 'the store is missing', 'settings.gateway.url is missing'],
    ],
    [
      'an unknown setting',
      { settings: { temporal: { adress: 'a:1' } } },
      ["additional properties 'adress' not allowed"],
    ],
    [
      'what the chart sets',
      { settings: { api: { port: 9 } } },
      ["'/settings/api': additional properties 'port' not allowed"],
    ],
    [
      'a wrong value',
      { settings: { deploy: { max_parallel_nodes: 0 } } },
      ["'/settings/deploy/max_parallel_nodes': minimum: got 0, want 1"],
    ],
    ['a password', { settings: { store: { url: 'postgres://u:secret@db/s' } } }, ["'/settings/store/url'"]],
    ['a store in a file', { settings: { store: { url: 'sqlite:x.db' } } }, ["'/settings/store/url'"]],
    ['a protocol', { settings: { gateway: { url: 'http://gateway.example' } } }, ["'/settings/gateway/url'"]],
    ['a secret setting', { settings: { maas: { key: 'a:b:c' } } }, ["additional properties 'key' not allowed"]],
    [
      'a file in the settings',
      { settings: { maas: { key_file: '/x' } } },
      ["additional properties 'key_file' not allowed"],
    ],
    [
      'an unknown file',
      { files: { 'maas.keyfile': { secret: 'a', key: 'b' } } },
      ["additional properties 'maas.keyfile' not allowed"],
    ],
    [
      'a file of two',
      { files: { 'maas.key_file': { secret: 'a', configMap: 'b', key: 'b' } } },
      ["'/files/maas.key_file'"],
    ],
    [
      'half a certificate',
      { ...least, files: { 'api.tls.cert_file': { secret: 'a', key: 'b' } } },
      ['files has only one of api.tls.cert_file and api.tls.key_file'],
    ],
    [
      'two stores',
      { ...least, store: { secret: { name: 'x' } } },
      ['store.secret.name and settings.store.url are both set'],
    ],
    [
      'a gateway that is off',
      { ...least, gateway: { enabled: false } },
      ['settings.gateway.url is set, but gateway.enabled is false'],
    ],
    ['root', { ...least, runAsUser: 0 }, ["'/runAsUser': minimum: got 0, want 1"]],
    ['no name', { ...least, api: { replica: 1 } }, ["'/api': additional properties 'replica' not allowed"]],
  ] as const)('refuses %s, with its place', async (_what, values, expected) => {
    const refusal = await rendered(values).then(
      () => 'accepted',
      (error: Error) => error.message,
    );
    for (const text of expected) expect(refusal).toContain(text);
  });
});

describe('a rehearsal, which a viewer may ask for', () => {
  const values = load(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as {
    readonly api: { readonly resources: { readonly limits: { readonly memory: string } } };
  };

  it('has all its memory within the limit that the chart gives the API, and leaves it enough to answer', () => {
    const gibibytes = Number(/^(\d+)Gi$/.exec(values.api.resources.limits.memory)?.[1]);
    const megabytes = rehearsalMegabytes(gibibytes * 1024 ** 3);
    expect(megabytes).toBe(MOST_MEGABYTES);
    expect(gibibytes * 1024 - megabytes).toBeGreaterThanOrEqual(512);
  });

  it.each([0.5, 1, 1.5])('has less where an operator gives the API %d GiB', (gibibytes) => {
    const megabytes = rehearsalMegabytes(gibibytes * 1024 ** 3);
    expect(megabytes).toBeGreaterThan(0);
    expect(megabytes).toBeLessThanOrEqual(gibibytes * 1024 * 0.7);
  });

  it.each([undefined, 0, 2 ** 64])('has all of it on a machine without a limit: %s', (limit) => {
    expect(rehearsalMegabytes(limit)).toBe(MOST_MEGABYTES);
  });
});
