import { readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { isMapping, valueAt } from '../../core/data/plain-value.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import {
  checkSchema,
  DOCUMENT_WORDS,
  parseYaml,
  type SchemaProblem,
  type SchemaWords,
  type YamlDocument,
} from '../../documents/index.ts';
import { whyNotPrivate } from '../secrets/why-not-private.ts';
import { checkFolderFile, whyOfOthers } from './own-settings-file.ts';
import {
  OTHER_VARIABLES,
  type SettingDefinition,
  type SettingOrigin,
  type Settings,
  settingDefinitions,
  settingsSchema,
} from './settings.ts';
import { stateFolder, unnamedSettingsFile } from './settings-file.ts';

export type LoadedSettings =
  | {
      readonly ok: true;
      readonly settings: Settings;
      /** By path, one for every setting. */
      readonly origins: ReadonlyMap<string, SettingOrigin>;
      /** The settings file, if one was read. */
      readonly file?: string;
      /** Nobody named it: it was in the working directory, and may have come there with something else. */
      readonly isOfFolder: boolean;
      readonly warnings: readonly Diagnostic[];
    }
  | { readonly ok: false; readonly problems: readonly Diagnostic[] };

export interface LoadOptions {
  /** Default: this process's environment. */
  readonly env?: NodeJS.ProcessEnv;
  /** Folder of `sitewright.yaml`, and base of relative paths in the environment. */
  readonly cwd?: string;
  /** Value of `--config`; must exist, like one named by `SITEWRIGHT_CONFIG`. */
  readonly configFile?: string;
  /** Whether the user may write what belongs to the machine. Default: whether it is root. */
  readonly isRoot?: boolean;
}

interface Candidate {
  readonly value: unknown;
  readonly origin: SettingOrigin;
  /** For diagnostics. */
  readonly place: Pick<Diagnostic, 'file' | 'line' | 'column' | 'text'>;
}

/**
 * Reads all settings: environment over file over default. Never throws for invalid settings:
 * returns all problems, each with its place.
 */
export function loadSettings(options: LoadOptions = {}): LoadedSettings {
  const env = options.env ?? process.env;
  const cwd = options.cwd ?? process.cwd();
  const problems: Diagnostic[] = [];
  const file = readSettingsFile(options, env, cwd, problems);
  const origins = new Map<string, SettingOrigin>();
  const values: Record<string, unknown> = {};

  for (const setting of settingDefinitions) {
    const candidate = fromEnvironment(setting, env) ?? file?.candidates.get(setting.path);
    origins.set(setting.path, candidate?.origin ?? { from: 'default' });
    const words = { ...SETTING_WORDS, nameOf: () => nameOf(setting, candidate), showsValues: !setting.secret };
    const result = checkSchema(setting.schema, candidate?.value, { words });
    if (result.ok) put(values, setting.path, resolved(setting, result.value, candidate, cwd));
    else for (const problem of result.problems) problems.push(badValue(setting, candidate, problem));
  }
  // A misspelt key may explain a missing one, so it comes first.
  problems.push(...checkTogether(values, origins, file?.path));
  if (file?.isOfFolder) problems.push(...checkFolderFile(file.path, values, origins));
  if (problems.length > 0) return { ok: false, problems };
  const { agent, ...others } = settingsSchema.parse(values);
  const ownFolder = (options.isRoot ?? process.getuid?.() === 0) ? undefined : stateFolder(env);
  const isOwn = origins.get('agent.state_dir')?.from === 'default' && ownFolder !== undefined;
  return {
    ok: true,
    settings: { ...others, agent: isOwn ? { ...agent, state_dir: ownFolder } : agent },
    origins,
    ...(file && { file: file.path }),
    isOfFolder: file?.isOfFolder === true,
    warnings: unknownVariables(env),
  };
}

interface SettingsFile {
  readonly path: string;
  readonly isOfFolder: boolean;
  readonly candidates: ReadonlyMap<string, Candidate>;
}

function readSettingsFile(
  options: LoadOptions,
  env: NodeJS.ProcessEnv,
  cwd: string,
  problems: Diagnostic[],
): SettingsFile | undefined {
  const named = options.configFile ?? (env.SITEWRIGHT_CONFIG || undefined);
  const path = resolve(cwd, named ?? unnamedSettingsFile(env, cwd) ?? 'sitewright.yaml');
  let text: string;
  try {
    const why = named === undefined ? whyOfOthers(path) : undefined;
    if (why !== undefined) {
      problems.push({
        severity: 'error',
        code: 'settings.foreign-file',
        message: `the settings file of this folder is not used: ${why}`,
        hint: `It could send your keys elsewhere, or run code. If you trust it, name it: --config ${path}, or SITEWRIGHT_CONFIG. If it is yours alone: chmod go-w ${dirname(path)} ${path}`,
        file: path,
      });
      return undefined;
    }
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const absent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (absent && named === undefined) return undefined;
    const by =
      options.configFile !== undefined ? '--config' : named === undefined ? 'its default place' : 'SITEWRIGHT_CONFIG';
    problems.push({
      severity: 'error',
      code: 'settings.unreadable-file',
      message: `the settings file (named by ${by}) ${absent ? 'does not exist' : 'cannot be read'}`,
      hint: 'Correct the name, or omit it to use sitewright.yaml of the working directory.',
      file: path,
    });
    return undefined;
  }
  const parsed = parseYaml(text, { file: path });
  problems.push(...parsed.diagnostics);
  const [document, second] = parsed.documents.filter(({ empty }) => !empty);
  if (second) {
    problems.push({
      severity: 'error',
      code: 'settings.several-documents',
      message: 'a settings file must be one YAML document',
      file: path,
    });
  }
  const candidates = new Map<string, Candidate>();
  if (document?.usable) collect(document, document.value, [], path, candidates, problems);
  return { path, candidates, isOfFolder: named === undefined && dirname(path) === resolve(cwd) };
}

function collect(
  document: YamlDocument,
  value: unknown,
  at: readonly string[],
  file: string,
  candidates: Map<string, Candidate>,
  problems: Diagnostic[],
): void {
  const path = at.join('.');
  const place = { file, ...document.place(at) };
  const leaf = settingDefinitions.find((setting) => setting.path === path);
  if (leaf) {
    // `key:` without a value counts as absent.
    if (value === null) return;
    if (leaf.secret) {
      problems.push({
        severity: 'error',
        code: 'settings.secret-in-file',
        message: `${path} must not be in the settings file`,
        hint: `Put it in a separate file with mode 600 and set ${path}_file to its name, or set ${leaf.variable}.`,
        file,
        line: place.line,
        column: place.column,
        path,
      });
      return;
    }
    candidates.set(path, {
      value: leaf.choices?.includes('off') ? switchValue(value) : value,
      origin: { from: 'file', file, line: place.line },
      place,
    });
    return;
  }
  const known = keysBelow(path);
  if (known.length === 0) {
    const all = keysBelow(at.slice(0, -1).join('.'));
    const name = at.at(-1) ?? '';
    problems.push({
      severity: 'error',
      code: 'settings.unknown-key',
      message: `there is no setting ${path}`,
      hint: didYouMean(name, all) ?? elsewhere(name) ?? `Known here: ${all.join(', ')}.`,
      file,
      ...document.place(at, 'key'),
      path,
    });
    return;
  }
  if (value === null) return;
  if (!isMapping(value)) {
    const what = path === '' ? 'the settings file' : path;
    problems.push({
      severity: 'error',
      code: 'settings.not-a-mapping',
      message: `${what} must be a mapping with ${known.join(', ')}`,
      hint: `Write \`${path === '' ? '' : `${path}: `}{ ${known[0]}: … }\`.`,
      ...place,
      ...(path && { path }),
    });
    return;
  }
  for (const [key, child] of Object.entries(value)) collect(document, child, [...at, key], file, candidates, problems);
}

/** YAML reads a bare on or off as true or false. */
const switchValue = (value: unknown): unknown => (value === true ? 'on' : value === false ? 'off' : value);

/** The next step of every setting below a path; none when there is no such section. */
function keysBelow(path: string): string[] {
  const prefix = path === '' ? '' : `${path}.`;
  const below = settingDefinitions.filter((setting) => setting.path.startsWith(prefix));
  return [...new Set(below.map((setting) => setting.path.slice(prefix.length).split('.')[0] ?? ''))];
}

/** Suggests the right section for a known key. */
function elsewhere(key: string): string | undefined {
  const paths = settingDefinitions.map(({ path }) => path).filter((path) => path.endsWith(`.${key}`));
  return paths.length > 0 ? `Did you mean ${paths.join(' or ')}?` : undefined;
}

function fromEnvironment(setting: SettingDefinition, env: NodeJS.ProcessEnv): Candidate | undefined {
  const text = env[setting.variable];
  // In compose files and units, an empty variable means "not set".
  if (text === undefined || text === '') return undefined;
  const isWrittenNumber = setting.isNumber && /^-?\d+(\.\d+)?$/.test(text.trim());
  return {
    value: isWrittenNumber ? Number(text) : text,
    origin: { from: 'environment', variable: setting.variable },
    place: setting.secret ? {} : { text: text.slice(0, 200) },
  };
}

function resolved(setting: SettingDefinition, value: unknown, candidate: Candidate | undefined, cwd: string): unknown {
  if (!setting.isPath || typeof value !== 'string' || isAbsolute(value)) return value;
  return resolve(candidate?.origin.from === 'file' ? dirname(candidate.origin.file) : cwd, value);
}

/** Checks that involve several settings. */
function checkTogether(
  values: Record<string, unknown>,
  origins: Map<string, SettingOrigin>,
  file?: string,
): Diagnostic[] {
  const maas = values.maas as Partial<Settings['maas']> | undefined;
  const problems: Diagnostic[] = [];
  const add = (code: string, message: string, hint: string, path: string): void => {
    const origin = origins.get(path);
    const line = origin?.from === 'file' && file !== undefined ? { file, line: origin.line } : {};
    problems.push({ severity: 'error', code, message, hint, path, ...line });
  };
  const { poll_min_seconds: least, poll_max_seconds: most } = maas ?? {};
  if (least !== undefined && most !== undefined && least > most) {
    const message = `maas.poll_min_seconds (${least}) is greater than maas.poll_max_seconds (${most})`;
    add('settings.contradiction', message, 'Lower the first or raise the second.', 'maas.poll_min_seconds');
  }
  if (maas?.key !== undefined && maas.key_file !== undefined) {
    const message = 'both SITEWRIGHT_MAAS_KEY and maas.key_file are set';
    add('settings.contradiction', message, 'Unset one of them.', 'maas.key_file');
  }
  for (const { path, ownSecret, with: other } of settingDefinitions) {
    const value = valueAt(values, path.split('.'));
    if (ownSecret !== undefined && typeof value === 'string') {
      const problem = secretFileProblem(value, ownSecret);
      if (problem) add('settings.secret-file', `${value} ${problem.what}`, problem.fix, path);
    }
    if (other === undefined || value === undefined) continue;
    const beside = [...path.split('.').slice(0, -1), other];
    if (valueAt(values, beside) !== undefined) continue;
    const message = `${path} is set, but ${beside.join('.')} is not`;
    add('settings.contradiction', message, 'Set both or neither.', path);
  }
  return problems;
}

function secretFileProblem(path: string, what: string): { what: string; fix: string } | undefined {
  try {
    return whyNotPrivate(path, statSync(path));
  } catch {
    return { what: 'cannot be read', fix: `Create it with mode 600 and only ${what} in it.` };
  }
}

/**
 * Only a warning: clusters add variables to the environment (a Kubernetes service named
 * sitewright yields SITEWRIGHT_PORT).
 */
function unknownVariables(env: NodeJS.ProcessEnv): Diagnostic[] {
  const known = [...settingDefinitions.map(({ variable }) => variable), ...Object.keys(OTHER_VARIABLES)];
  const unknown = Object.keys(env).filter((name) => name.startsWith('SITEWRIGHT_') && !known.includes(name));
  return unknown.map((name) => ({
    severity: 'warning',
    code: 'settings.unknown-variable',
    message: `the variable ${name} is not a setting`,
    hint: didYouMean(name, known) ?? 'See docs/reference/settings.md.',
    text: name,
  }));
}

const BAD_VALUE = 'settings.bad-value';

const SETTING_WORDS: SchemaWords = {
  ...DOCUMENT_WORDS,
  codes: {
    missing: BAD_VALUE,
    'wrong-type': BAD_VALUE,
    'wrong-value': BAD_VALUE,
    unknown: BAD_VALUE,
    more: BAD_VALUE,
  },
  yamlHints: false,
};

function nameOf({ path }: SettingDefinition, candidate: Candidate | undefined): string {
  const origin = candidate?.origin;
  return origin?.from === 'environment' ? `${path} (from ${origin.variable})` : path;
}

function badValue(setting: SettingDefinition, candidate: Candidate | undefined, problem: SchemaProblem): Diagnostic {
  const { path, defaultValue, description } = setting;
  const { severity, code, message, hint } = problem;
  const fallback = defaultValue === undefined ? description : `The default is ${defaultValue}.`;
  return { severity, code, message, hint: hint ?? fallback, path, ...candidate?.place };
}

function put(root: Record<string, unknown>, path: string, value: unknown): void {
  const steps = path.split('.');
  const last = steps.pop() ?? '';
  let at = root;
  for (const step of steps) at = (at[step] ??= {}) as Record<string, unknown>;
  if (value !== undefined) at[last] = value;
}
