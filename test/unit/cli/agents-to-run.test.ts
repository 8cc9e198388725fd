import { expect, it } from 'vitest';
import { agentsToRun } from '../../../src/cli/commands/agents.ts';
import type { Session } from '../../../src/cli/shell/session.ts';

const AGENTS = [
  { id: 4, name: 'node-1', site: 'cluster-1', node: '4' },
  { id: 7, name: 'node-3', site: 'cluster-1', node: '7' },
];
const session = { call: async () => AGENTS } as unknown as Pick<Session, 'call'>;
const of = (one: number) => ({ site: AGENTS[one]!.site, node: AGENTS[one]!.node });

it.each([
  [{ cluster: 'lab' }, [of(0), of(1)]],
  [{ cluster: 'lab', node: ['node-3'] }, [of(1)]],
  [{ cluster: 'lab', node: ['7', '7'] }, [of(1)]],
  [{ site: 'dc1', node: ['n1', 'n1'] }, [{ site: 'dc1', node: 'n1' }]],
])('%j starts the agents of the nodes that it names', async (asked, expected) => {
  expect(await agentsToRun(session, asked)).toEqual(expected);
});

it.each([{ cluster: 'lab', node: ['node-9'] }, { cluster: 'lab', site: 'dc1' }, { site: 'dc1' }, { node: ['n1'] }])(
  '%j is refused',
  async (asked) => {
    await expect(agentsToRun(session, asked)).rejects.toMatchObject({ problem: { code: 'usage' } });
  },
);
