import { expect, it } from 'vitest';
import { cli } from './recording-terminal.ts';

it.each([
  [['deploy', 'dc1'], "Did you mean 'sitewright site deploy' or 'sitewright cluster deploy'?"],
  [['site', 'pause', 'dc1'], "Did you mean 'sitewright run pause' or 'sitewright schedule pause'?"],
  [['context', 'delete', 'prod'], "Did you mean 'sitewright context remove'?"],
  [['context', 'rm', 'prod'], "Did you mean 'sitewright context remove'?"],
  [['context', 'create', 'prod'], "Did you mean 'sitewright context add'?"],
  [['package', 'delete', 'webstack'], "Did you mean 'sitewright package remove'?"],
  [['package', 'describe', 'webstack'], "Did you mean 'sitewright package show'?"],
  [['site', 'new', 'dc1'], "Did you mean 'sitewright site create'?"],
  [['site', 'ls'], "Did you mean 'sitewright site list'?"],
  [['cluster', 'info', 'lab'], "Did you mean 'sitewright cluster show'?"],
])('a command of this group, else of another, is suggested: %j', async (args, hint) => {
  const { code, err } = await cli(args);
  expect(code).toBe(2);
  expect(err).toContain(`(${hint})`);
  const forPrograms = await cli([...args, '-f', 'json']);
  expect(JSON.parse(forPrograms.err)).toMatchObject({ code: 'usage', hint });
});

it('a verb that many other groups have suggests none of them', async () => {
  const { err } = await cli(['release', 'delete', '3']);
  expect(err).toBe("error: unknown command 'delete'\n(add --help for usage)\n");
});

it('a command of no group is only reported as unknown', async () => {
  expect((await cli(['frobnicate'])).err).toBe("error: unknown command 'frobnicate'\n(add --help for usage)\n");
});
