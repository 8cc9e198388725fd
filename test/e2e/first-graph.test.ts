import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newcomer } from '../rig/newcomer.ts';
import { NewcomersClone } from '../rig/newcomers-clone.ts';

/*
 * A newcomer's first hour on a fresh system, by the commands of the pages: docs/start/first-graph.md; docs/how-to/move-a-service.md, which
 * continues from it; a site of one's own, docs/start/first-site.md.
 */
let clone: NewcomersClone;
beforeAll(async () => {
  clone = await NewcomersClone.make();
  await clone.shell(newcomer.writeOwnSite);
  await clone.up(newcomer.upOptions);
});
afterAll(() => clone?.close());

it('the graph of the README runs to success as written', async () => {
  const said = await clone.shell(newcomer.readmeGraph);
  expect(said).toContain('8 tasks on 2 nodes: 8 run');
  expect(said).toContain('execute_graph of cluster 1: success');
});

it('a cluster is scaled up, a service moved and cleaned up, the cluster scaled down, as in docs/how-to/move-a-service.md', async () => {
  const [up, detach, cleanup, down] = newcomer.scaling;
  expect(newcomer.scaling).toHaveLength(4);
  expect(await clone.shell(up!)).toMatch(
    /balancer \(shell\) new: \$\.nodes\.name[\s\S]*node node-3: 3 run[\s\S]*: success/,
  );
  expect(await clone.shell(detach!)).toMatch(
    /node node-3: 5 run[\s\S]*database \(shell\) first time here[\s\S]*: success/,
  );
  expect(await clone.shell(cleanup!)).toMatch(/: success[\s\S]*deleted the graph of type cleanup/);
  expect(await clone.shell(down!)).toMatch(/node-2 +discover +true +- /);
});

it('a user’s own site is deployed, as in docs/start/first-site.md', async () => {
  expect(await clone.shell(newcomer.deployOwnSite)).toMatch(
    /deploy_site of mysite: success\n[\s\S]*0 new, 0 changed, 0 removed, 4 unchanged/,
  );
});

it('a user’s own graph runs on this machine in one command, as in docs/start/first-graph.md', async () => {
  const { name, text } = newcomer.ownGraph;
  writeFileSync(join(clone.folder, name), text);
  expect(await clone.shell(newcomer.runOwnGraph)).toMatch(/2 of 2 tasks done[\s\S]*: success/);
  // Again, with the existing objects, and its own tags.
  writeFileSync(join(clone.folder, name), text.replace('[web]', '[web, primary-db, api]'));
  expect(await clone.shell(newcomer.runOwnGraph)).toMatch(/: success/);
});

it('the release written by `init release` runs unchanged, as in docs/start/first-graph.md', async () => {
  const said = await clone.shell(newcomer.ownRelease);
  // The command's next steps are those of the page.
  const [, next] = /^next:\n((?: {2}.*\n)+)/m.exec(said) ?? [];
  const commandsOf = (text: string) =>
    text.split('\n').flatMap((line) => /sitewright ([^>#]*[^>#\s])/.exec(line)?.[1] ?? []);
  expect(commandsOf(next!)).toEqual(commandsOf(newcomer.ownRelease).slice(1));
  expect(said).toMatch(/myrelease: valid[\s\S]*8 of 8 tasks done[\s\S]*: success/);
});
