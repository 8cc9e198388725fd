import { expect, it } from 'vitest';
import { cli } from './recording-terminal.ts';

it.each([
  [['deploy', 'dc1'], "Did you mean 'sitewright site deploy' or 'sitewright cluster deploy'?"],
  [['site', 'pause', 'dc1'], "Did you mean 'sitewright run pause' or 'sitewright schedule pause'?"],
])('a command of another group is suggested: %j', async (args, hint) => {
  const { code, err } = await cli(args);
  expect(code).toBe(2);
  expect(err).toContain(`(${hint})`);
  const forPrograms = await cli([...args, '-f', 'json']);
  expect(JSON.parse(forPrograms.err)).toMatchObject({ code: 'usage', hint });
});

it('a command of no group is only reported as unknown', async () => {
  expect((await cli(['frobnicate'])).err).toBe("error: unknown command 'frobnicate'\n(add --help for usage)\n");
});
