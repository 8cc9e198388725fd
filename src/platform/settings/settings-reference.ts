import { OTHER_VARIABLES, type SettingDefinition, settingDefinitions } from './settings.js';

/** The text of docs/settings.md, made from the schema so that the two cannot differ. */
export function settingsReference(): string {
  const rows = settingDefinitions.map(({ path, variable, defaultValue, secret, reload, choices, description }) => {
    const fallback = defaultValue === undefined ? 'none' : `\`${defaultValue}\``;
    const more = [
      ...(choices === undefined ? [] : [` One of ${choices.join(', ')}.`]),
      ...(reload ? [' A change needs no restart.'] : []),
    ];
    const name = `\`${path}\`${secret ? ' (environment only)' : ''}`;
    return `| ${name} | \`${variable}\` | ${fallback} | ${description}${more.join('')} |`;
  });
  const others = Object.entries(OTHER_VARIABLES).map(([name, what]) => `| \`${name}\` | ${what} |`);
  return `<!-- Made by \`npm run docs:settings\` from src/platform/settings/settings.ts; a test holds them together. -->
# Settings

The environment comes before the file, the file before the default. The file is \`sitewright.yaml\` of the
working directory, or the one named by \`--config\` or \`SITEWRIGHT_CONFIG\`. A key that does not exist there
is refused, with the nearest that does; a variable of the environment with an unknown name is a warning.
A variable set to nothing counts as not set. \`sitewright config show\` prints every setting with its origin.

Secrets are never written into the settings file: name a file that only its owner may read, or use the
environment.

\`\`\`yaml
${exampleFile(settingDefinitions)}
\`\`\`

| setting | variable | default | what it is |
| --- | --- | --- | --- |
${rows.join('\n')}

These variables are not settings:

| variable | what it is |
| --- | --- |
${others.join('\n')}
`;
}

/** The settings that have an example, as a file. All of them are of one section each. */
function exampleFile(settings: readonly SettingDefinition[]): string {
  const sections = new Map<string, string[]>();
  for (const { path, example } of settings) {
    if (example === undefined) continue;
    const [section = '', key = ''] = path.split('.');
    sections.set(section, [...(sections.get(section) ?? []), `  ${key}: ${example}`]);
  }
  return [...sections].map(([section, lines]) => `${section}:\n${lines.join('\n')}`).join('\n');
}
