import { describe, expect, it } from 'vitest';
import { checkPackage, type PackageReport, packageTree } from '../../../src/packages/index.ts';
import { folderContents } from './recorded-packages.ts';

/** Scripts and repositories of the published packages were left out of the copies; their folders are not. */
const FOLDERS = [
  'deployment_scripts',
  ...['ubuntu', 'centos', 'ubuntu/trusty', 'ubuntu/xenial'].map((name) => `repositories/${name}`),
];

const check = (
  name: string,
  change: (files: Map<string, string | Uint8Array>) => void = () => undefined,
): PackageReport => {
  const files = folderContents(name);
  change(files);
  return checkPackage(packageTree(name, files, FOLDERS));
};

const errors = ({ errors }: PackageReport) =>
  errors.map(({ file, line, path, code }) => `${file}:${line} ${path} ${code}`);

describe('published packages', () => {
  it.each([
    'contrail',
    'detach-rabbitmq',
    'detach-database',
    'lma-collector',
    'nsxv',
    'xenserver',
    'elasticsearch-kibana',
    'external-zabbix',
    'kafka',
    'ovs',
    'murano',
    'nsx-t',
    'lcm',
    'fpb-example-v1',
    'fpb-example-v2',
    'fpb-example-v3',
    'fpb-example-v4',
    'fpb-created-v5',
  ])('%s is valid', (name) => {
    expect(errors(check(name))).toEqual([]);
  });

  it('of an untouched skeleton of the released builder (fuel-plugin-builder 4.2.0), for Fuel 9.0, are refused', () => {
    const report = check('fpb-example-v5');
    expect(report.errors.map(({ code }) => code)).toEqual(['package.fuel-version-too-old']);
    const fixed = check('fpb-example-v5', (files) => {
      files.set('metadata.yaml', String(files.get('metadata.yaml')).replace("'9.0'", "'9.1'"));
    });
    expect(errors(fixed)).toEqual([]);
  });
});

describe('the formats before 5.0.0', () => {
  const without = (file: string) => (files: Map<string, string | Uint8Array>) => files.delete(file);
  const empty = (file: string) => (files: Map<string, string | Uint8Array>) => files.set(file, '# nothing\n');
  const write = (file: string, text: string) => (files: Map<string, string | Uint8Array>) => files.set(file, text);

  it.each([
    ['fpb-example-v1', 'tasks.yaml', 'package.missing-file'],
    ['fpb-example-v2', 'environment_config.yaml', 'package.missing-file'],
    ['fpb-example-v3', 'deployment_tasks.yaml', 'package.missing-file'],
    ['fpb-example-v4', 'deployment_tasks.yaml', 'package.missing-file'],
    ['fpb-example-v3', 'tasks.yaml', undefined],
    ['fpb-example-v4', 'components.yaml', undefined],
    ['fpb-example-v5', 'environment_config.yaml', undefined],
  ])('%s without %s', (name, file, code) => {
    const report = check(name, without(file));
    expect(report.errors.filter((problem) => problem.file === file).map((problem) => problem.code)).toEqual(
      code ? [code] : [],
    );
  });

  it.each([
    ['fpb-example-v1', 'tasks.yaml', 1],
    ['fpb-example-v3', 'tasks.yaml', 1],
    ['fpb-example-v4', 'tasks.yaml', 0],
    ['fpb-example-v4', 'volumes.yaml', 1],
    ['fpb-example-v4', 'environment_config.yaml', 0],
    ['fpb-example-v5', 'volumes.yaml', 0],
  ])('%s with an empty %s', (name, file, count) => {
    expect(check(name, empty(file)).errors.filter(({ code }) => code === 'package.empty-file')).toHaveLength(count);
  });

  it.each([
    ['fpb-example-v4', 'volumes.yaml', ['package.kind']],
    ['fpb-example-v4', 'node_roles.yaml', ['package.kind']],
    ['fpb-example-v5', 'node_roles.yaml', ['package.kind']],
    ['fpb-example-v5', 'volumes.yaml', []],
  ])('%s with an empty list in %s', (name, file, codes) => {
    const report = check(name, write(file, '[]'));
    expect(report.errors.filter((problem) => problem.file === file).map(({ code }) => code)).toEqual(codes);
  });

  it('check tasks.yaml like each original', () => {
    const task = '- {type: reboot, stage: post_deployment/100.5, role: [a], parameters: {timeout: -1}}\n';
    expect(errors(check('fpb-example-v1', write('tasks.yaml', task)))).toEqual([
      'tasks.yaml:1 tasks[0].type package.value',
      'tasks.yaml:1 tasks[0].stage package.value',
      'tasks.yaml:1 tasks[0].parameters.timeout package.too-small',
    ]);
    expect(errors(check('fpb-example-v2', write('tasks.yaml', task)))).toEqual([
      'tasks.yaml:1 tasks[0].parameters.timeout package.too-small',
    ]);
  });

  it('require a role in 3.0.0 where later ones only warn', () => {
    const task = '- {id: a, type: shell, parameters: {cmd: x}}\n';
    expect(errors(check('fpb-example-v3', write('deployment_tasks.yaml', task)))).toEqual([
      'deployment_tasks.yaml:1 deployment_tasks[0].role package.missing-key',
    ]);
    const later = check('fpb-example-v4', write('deployment_tasks.yaml', task));
    expect(errors(later)).toEqual([]);
    expect(later.warnings.map(({ code }) => code)).toContain('package.task-without-role');
  });

  it('need metadata.yaml under this name', () => {
    const rename = (files: Map<string, string | Uint8Array>) => {
      files.set('metadata.yml', files.get('metadata.yaml')!);
      files.delete('metadata.yaml');
    };
    expect(errors(check('fpb-example-v4', rename))).toEqual(['metadata.yml:2  package.no-metadata']);
  });
});
