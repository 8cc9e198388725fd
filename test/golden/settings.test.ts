import { expect, it } from 'vitest';
import { settingDefinitions } from '../../src/platform/settings/settings.ts';

/** Names, defaults and secrecy of settings are promises to operators: a change must show up here as a changed line. */
it('settings are the recorded ones', async () => {
  const lines = settingDefinitions.map(({ path, variable, schema, description, defaultValue, example, ...facts }) => {
    const said = Object.entries(facts)
      .filter(([name, fact]) => fact !== false && name !== 'isNumber')
      .map(([name, fact]) => (fact === true ? name : `${name}=${String(fact)}`));
    return [variable, path, `(${defaultValue ?? 'none'})`, ...said].join(' ');
  });
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('settings.txt');
});
