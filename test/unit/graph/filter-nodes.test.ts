import { describe, expect, it } from 'vitest';
import { filterNodes, GraphProblemError, type NodeRow } from '../../../src/graph/index.ts';

const node = (id: number, more: Partial<NodeRow> = {}): NodeRow => ({
  id,
  online: true,
  status: 'ready',
  pending_addition: false,
  pending_deletion: false,
  error_type: null,
  roles: ['compute'],
  ...more,
});

const nodes = [
  node(10),
  node(9, { status: 'provisioned' }),
  node(1, { online: false }),
  node(2, { pending_addition: true }),
  node(3, { pending_deletion: true, status: 'ready' }),
  node(4, { status: 'error', error_type: 'deploy' }),
  node(5, { status: 'error', error_type: 'provision' }),
  node(6, { status: 'discover' }),
];
const ids = (choice: Parameters<typeof filterNodes>[1]) => filterNodes(nodes, choice).map(({ id }) => id);

describe('the nodes of a run', () => {
  it.each([
    ['without a filter: what has its system and stays', {}, [4, 9, 10]],
    ['by the filter of provisioning', { filter: "$.pending_addition or $.error_type = 'provision'" }, [2, 5]],
    ['by the filter of deletion', { filter: "$.pending_deletion or $.error_type = 'deletion'" }, [3]],
    ['by a filter over other fields', { filter: 'compute in $.roles and $.id > 8' }, [9, 10]],
    ['an empty filter takes all', { filter: '' }, [2, 3, 4, 5, 6, 9, 10]],
    ['a filter that takes none gives none', { filter: 'false' }, []],
    ['ids switch the filter off, and never bring one that is offline', { ids: [1, '2', 6], filter: 'false' }, [2, 6]],
    ['an empty list of ids selects no nodes', { ids: [] }, []],
  ])('%s', (_, choice, expected) => {
    expect(ids(choice)).toEqual(expected);
  });

  it.each(['$.(', '$.nothing = 1'])('are refused with the reason if the filter fails: %s', (filter) => {
    expect(() => filterNodes(nodes, { filter })).toThrow(GraphProblemError);
  });
});
