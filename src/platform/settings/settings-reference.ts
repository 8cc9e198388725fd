import { settingDefinitions } from './settings.js';

/** The text of docs/settings.md, made from the schema so that the two cannot differ. */
export function settingsReference(): string {
  const rows = settingDefinitions.map((setting) => {
    const fallback = setting.defaultValue === undefined ? 'none' : `\`${setting.defaultValue}\``;
    const name = setting.secret ? `\`${setting.path}\` (environment only)` : `\`${setting.path}\``;
    const choice = setting.kind.includes(',') ? ` One of ${setting.kind}.` : '';
    return `| ${name} | \`${setting.variable}\` | ${fallback} | ${setting.description}${choice} |`;
  });
  return `<!-- Made by \`npm run docs:settings\` from src/platform/settings/settings.ts; a test holds them together. -->
# Settings

The environment comes before the file, the file before the default. The file is \`sitewright.yaml\` of the
working directory, or the one named by \`--config\` or \`SITEWRIGHT_CONFIG\`. A key that does not exist there
is refused, with the nearest that does; a variable of the environment with an unknown name is a warning.
A variable set to nothing counts as not set. \`sitewright config show\` prints every setting with its origin.

Secrets are never written into the settings file: name a file that only its owner may read, or use the
environment.

\`\`\`yaml
temporal:
  address: temporal.example:7233
maas:
  url: http://maas.example:5240/MAAS
  key_file: maas.key
\`\`\`

| setting | variable | default | what it is |
| --- | --- | --- | --- |
${rows.join('\n')}

Five more variables are no settings: \`SITEWRIGHT_CONFIG\` names the settings file, \`SITEWRIGHT_CACHE\` the
folder for what is costly to get (default: \`~/.cache/sitewright\`), \`SITEWRIGHT_API\` the API the CLI talks
to, \`SITEWRIGHT_TOKEN\` the token it shows there, and \`SITEWRIGHT_CA_FILE\` a file (PEM) with the authority that the
API's certificate is from, where the system does not know it.
`;
}
