import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { load, YAML11_SCHEMA } from 'js-yaml';

/** The fields of a service that are used here; the schema of the specification has the rest. */
export interface ComposeService {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly profiles?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly read_only?: boolean;
  readonly network_mode?: string;
  readonly networks?: readonly string[];
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const root = new URL('../../', import.meta.url);

/** Our docker-compose.yml as Compose reads it: merged, with `variables` substituted. */
export function readComposeFile(variables: Readonly<Record<string, string>> = {}): ComposeFile {
  const file = load(readFileSync(new URL('docker-compose.yml', root), 'utf8'), { schema: YAML11_SCHEMA });
  return interpolated(file, variables) as ComposeFile;
}

/** The variables of a file as `--env-file` reads it. */
export const readEnvFile = (path: string): Record<string, string> =>
  parseEnv(readFileSync(new URL(path, root), 'utf8')) as Record<string, string>;

/** Every variable that the file reads, with its default; undefined where it has none. */
export function variablesOf(text: string): Map<string, string | undefined> {
  return new Map([...text.matchAll(VARIABLE)].map(([, name, fallback]) => [name!, fallback]));
}

const VARIABLE = /\$\{([A-Z_][A-Z0-9_]*)(?::-([^}]*))?\}/g;

function interpolated(value: unknown, variables: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string')
    return value.replace(VARIABLE, (_all, name: string, fallback = '') => variables[name] || fallback);
  if (Array.isArray(value)) return value.map((one) => interpolated(one, variables));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, interpolated(one, variables)]));
}
