// The parts of deploy/helm/sitewright/values.schema.json that follow from the settings. `npm run docs:settings` writes them.
import { z } from 'zod';
import { type SettingDefinition, settingDefinitions } from '../src/platform/settings/settings.ts';

export const CHART_SCHEMA = new URL('../deploy/helm/sitewright/values.schema.json', import.meta.url);

/** What the chart sets itself, or has another value for: secrets come from a Secret. */
export const SET_BY_CHART: ReadonlySet<string> = new Set([
  'access.tokens',
  'agent.state_dir',
  'api.host',
  'api.port',
  'codec.host',
  'codec.port',
  'gateway.data_dir',
  'gateway.host',
  'gateway.port',
  'maas.key',
  'secrets.directory',
  'task_logs.folder',
  'telemetry.metrics_host',
  'telemetry.metrics_port',
]);

/** Of the settings with a path, the ones that name a folder: a volume that the values mount. */
const FOLDERS: ReadonlySet<string> = new Set(['packages.folder']);

interface ObjectSchema {
  readonly type: 'object';
  readonly additionalProperties: false;
  readonly properties: Record<string, object>;
}

const emptyObject = (): ObjectSchema => ({ type: 'object', additionalProperties: false, properties: {} });

/** The text of values.schema.json, with `definitions.settings` and `properties.files` as the settings are now. */
export function chartSchema(before: string): string {
  const schema = JSON.parse(before) as {
    definitions: Record<string, object>;
    properties: { files: object };
  };
  const settings = emptyObject();
  const files = emptyObject();
  for (const setting of settingDefinitions) {
    if (SET_BY_CHART.has(setting.path)) continue;
    if (setting.isPath && !FOLDERS.has(setting.path)) {
      files.properties[setting.path] = { $ref: '#/definitions/file', description: setting.description };
      continue;
    }
    const steps = setting.path.split('.');
    const last = steps.pop() ?? '';
    let at = settings.properties;
    for (const step of steps) at = ((at[step] ??= emptyObject()) as ObjectSchema).properties;
    at[last] = valueSchema(setting);
  }
  schema.definitions.settings = settings;
  schema.properties.files = { ...files, description: 'Settings that name a file: which key of a Secret or ConfigMap.' };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function valueSchema({ path, schema, description, choices }: SettingDefinition): object {
  // YAML reads a bare on or off as true or false.
  if (choices?.includes('off'))
    return { enum: [...choices, ...(choices.includes('on') ? [true] : []), false], description };
  const { type, enum: words, pattern, minimum, maximum, minLength, format } = z.toJSONSchema(schema, { io: 'input' });
  // No password in a ConfigMap.
  if (path === 'store.url') return { type, pattern: '^postgres(ql)?://([^/:@]+@)?[^/@]+/', description };
  // Which protocols a URL may have is a rule that zod does not export.
  const protocols = ['http', 'https'].filter((protocol) => schema.safeParse(`${protocol}://x.example/`).success);
  const url = format === 'uri' ? `^(${protocols.join('|')})://[^\\s]+$` : undefined;
  const rules = { type, enum: words, pattern: url ?? pattern, minimum, maximum, minLength };
  return { ...Object.fromEntries(Object.entries(rules).filter(([, rule]) => rule !== undefined)), description };
}
