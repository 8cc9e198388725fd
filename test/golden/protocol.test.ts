import { expect, it } from 'vitest';
import * as protocol from '../../workflows/protocol.ts';

/** Renaming a wire name breaks runs in flight, scripts and habits: it must show up here as a changed line. */
it('wire names are the recorded ones', async () => {
  const lines = (group: string, names: Readonly<Record<string, string>>) =>
    Object.entries(names).map(([key, name]) => `${group} ${key} = ${name}`);
  const text = [
    ...protocol.SIDE_QUEUES.map((side) => `side queue = ${protocol.sideQueue('<queue>', side)}`),
    ...lines('workflow', protocol.WORKFLOWS),
    ...lines('signal', protocol.SIGNALS),
    ...lines('update', Object.fromEntries(protocol.UPDATES.map((name) => [name, name]))),
    ...lines('query', protocol.QUERIES),
    ...lines('activity', protocol.ACTIVITIES),
    ...lines('search attribute', protocol.SEARCH_ATTRIBUTES),
    `workflow id = ${protocol.siteWorkflowId('<kind>', '<site>')}`,
    `activity id = ${protocol.nodeActivityId('<verb>', '<group>', '<node>')}`,
  ].join('\n');
  await expect(`${text}\n`).toMatchFileSnapshot('protocol.txt');
});
