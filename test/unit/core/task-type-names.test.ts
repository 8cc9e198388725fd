import { describe, expect, it } from 'vitest';
import { maasTaskTypes } from '../../../src/agent/master/index.ts';
import { findRunner } from '../../../src/agent/task-types/prepare-task.ts';
import {
  checkParameters,
  goesToMaster,
  hasWork,
  onlyOrders,
  TASK_TYPE_NAMES,
  TASK_TYPES,
  typesOver,
} from '../../../src/core/task-types/index.ts';
import { readTasks } from '../../../src/graph/index.ts';

describe('the types of tasks', () => {
  it('have recorded names, used in graphs, journals and policies', () => {
    expect(TASK_TYPE_NAMES).toEqual([
      'cobbler_sync',
      'copy_files',
      'erase_node',
      'group',
      'master_shell',
      'move_to_bootstrap',
      'noop',
      'package_files',
      'puppet',
      'reboot',
      'role',
      'shell',
      'skipped',
      'stage',
      'sync',
      'upload_file',
      'upload_files',
    ]);
    expect(TASK_TYPE_NAMES.filter((name) => !hasWork(name))).toEqual(['group', 'noop', 'skipped', 'stage']);
    expect(TASK_TYPE_NAMES.filter(onlyOrders)).toEqual(['group', 'skipped', 'stage']);
    expect(TASK_TYPE_NAMES.filter(goesToMaster)).toEqual(['cobbler_sync', 'erase_node', 'move_to_bootstrap']);
  });

  it('are carried out as declared, and by nothing else', () => {
    const byAgents = TASK_TYPE_NAMES.filter((name) => findRunner(name) !== undefined);
    expect(byAgents).toEqual(typesOver('agent'));
    expect([...maasTaskTypes.keys()].sort()).toEqual(typesOver('maas'));
  });

  it('have an example and a description of every parameter if agents carry them out', () => {
    const lacking = TASK_TYPES.filter(
      ({ does, over, kind, examples }) =>
        does === '' || (kind === 'work' && over.some((one) => one === 'agent') && examples.length === 0),
    );
    expect(lacking).toEqual([]);
  });
});

describe('parameters', () => {
  const found = (type: string, parameters: unknown) =>
    checkParameters(type, parameters).map(({ kind, path, hint }) => [kind, path.join('.'), hint]);

  it('that are missing or unused are reported, with suggestions', () => {
    expect(found('shell', { cmnd: 'true', timeout: 5 })).toEqual([
      ['missing', 'cmd', 'Add it.'],
      ['unknown', 'cmnd', "Did you mean 'cmd'?"],
    ]);
    expect(
      found('upload_files', { nodes: [{ uid: '1', files: [{ dst: '/a', data: '', permission: '0600' }] }] }),
    ).toEqual([['unknown', 'nodes.0.files.0.permission', "Did you mean 'permissions'?"]]);
  });

  it('that planning or Fuel adds are accepted', () => {
    expect(found('sync', { src: '/a', dst: '/b', cwd: '/', strategy: { type: 'parallel' } })).toEqual([]);
    expect(found('move_to_bootstrap', { provisioning_info: {}, slave_name: 'node-1', timeout: 3600 })).toEqual([]);
  });
});

describe('a graph', () => {
  const problems = (...tasks: object[]) =>
    readTasks(tasks).problems.map(({ severity, code, path, hint }) => [severity, code, path, hint]);

  it('is refused for a typo in the name of a required parameter', () => {
    expect(problems({ id: 'a', type: 'shell', roles: '*', parameters: { cmnd: 'true' } })).toEqual([
      ['warning', 'graph.bad-parameters', '[0].parameters.cmd', 'Add it.'],
      ['error', 'graph.unknown-key', '[0].parameters.cmnd', "Did you mean 'cmd'?"],
    ]);
  });

  it('gets warnings for near misses of field names, and for parameters that its nodes would refuse', () => {
    expect(problems({ id: 'a', type: 'shell', parametres: { cmd: 'true' }, test_post: {} })).toEqual([
      ['warning', 'graph.unknown-key', '[0].parametres', "Did you mean 'parameters'?"],
      ['warning', 'graph.bad-parameters', '[0].parameters.cmd', 'Add it.'],
    ]);
    expect(problems({ id: 'a', type: 'reboot', parameters: { timeout: 'soon' } })).toEqual([
      ['warning', 'graph.bad-parameters', '[0].parameters.timeout', 'Omit it for the default, 900.'],
    ]);
  });

  it('can leave parameters to evaluation', () => {
    const open = { yaql_exp: '$.x' };
    expect(problems({ id: 'a', type: 'shell', parameters: { cmd: open, timeout: open } })).toEqual([]);
    expect(problems({ id: 'a', type: 'shell', parameters: open })).toEqual([]);
    expect(problems({ id: 'a', type: 'sync', parameters: { src: '{MASTER_IP}::x', dst: '/{CLUSTER_ID}' } })).toEqual(
      [],
    );
    expect(problems({ id: 'a', type: 'copy_files', parameters: { files: [open, { src: open, dst: '/a' }] } })).toEqual(
      [],
    );
  });
});
