import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { loadAll } from 'js-yaml';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

export const CHART = join(root, 'deploy/helm/sitewright');

/** An object of Kubernetes, as rendered. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: of many kinds; kubeconform checks their shapes
  readonly [field: string]: any;
}

const tools = execFileSync('bash', [join(root, '.ci/kubernetes-tools'), '--folder'], { encoding: 'utf8' }).trim();

/** Whether `.ci/kubernetes-tools` has built the tools. */
export const hasHelm = existsSync(tools);

/** The versions of Kubernetes with available schemas. */
export const kubernetesVersions: readonly string[] = hasHelm ? readdirSync(join(tools, 'schemas')) : [];

/** @throws Error with helm's standard error */
export async function helm(...args: readonly string[]): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'sitewright-helm-'));
  const folders = { HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };
  try {
    return (await run(join(tools, 'helm'), args, { env: { ...process.env, ...folders } })).stdout;
  } finally {
    rmSync(home, { recursive: true });
  }
}

/** The chart's objects for a values file or values. */
export async function rendered(
  values: string | object,
  kubernetes = kubernetesVersions.at(-1) ?? '',
): Promise<Manifest[]> {
  return loadAll(await renderedText(values, kubernetes)) as Manifest[];
}

/** The same as text. Rendered once for all tests of a file. */
export async function renderedText(
  values: string | object,
  kubernetes = kubernetesVersions.at(-1) ?? '',
): Promise<string> {
  const key = JSON.stringify([values, kubernetes]);
  const known = texts.get(key) ?? render(values, kubernetes);
  texts.set(key, known);
  return await known;
}

const texts = new Map<string, Promise<string>>();

async function render(values: string | object, kubernetes: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sitewright-values-'));
  try {
    const file = typeof values === 'string' ? values : join(folder, 'values.json');
    if (typeof values !== 'string') writeFileSync(file, JSON.stringify(values));
    return await helm(
      'template',
      'metal',
      CHART,
      '--namespace',
      'machines',
      '--kube-version',
      kubernetes,
      '--values',
      file,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The objections of kubeconform to objects, by Kubernetes' own schemas; none if they are right. */
export async function objections(text: string, kubernetes: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sitewright-manifests-'));
  try {
    const file = join(folder, 'all.yaml');
    writeFileSync(file, text);
    const schemas = `${join(tools, 'schemas', kubernetes)}/{{.ResourceKind}}{{.KindSuffix}}.json`;
    const args = ['-strict', '-output', 'json', '-verbose', '-schema-location', schemas, file];
    const stdout = await run(join(tools, 'kubeconform'), args, { maxBuffer: 2 ** 24 }).then(
      (end) => end.stdout,
      (error: { readonly stdout: string }) => error.stdout,
    );
    const { resources } = JSON.parse(stdout) as {
      readonly resources: readonly { readonly name: string; readonly status: string; readonly msg: string }[];
    };
    if (resources.length === 0) throw new Error('nothing was checked');
    return resources.filter(({ status }) => status !== 'statusValid').map(({ name, msg }) => `${name}: ${msg}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The objections of the level *restricted* of the Pod Security Standards to the pods, by Kubernetes' own evaluator. */
export async function insecurities(text: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sitewright-manifests-'));
  try {
    const file = join(folder, 'all.yaml');
    writeFileSync(file, text);
    const { stdout } = await run(join(tools, 'pod-security'), [file]);
    return stdout.split('\n').filter((line) => line !== '');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
