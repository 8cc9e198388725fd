import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cli } from '../cli/recording-terminal.ts';

const head = (schema: string, more = '') =>
  `---\nschema: ${schema}\nmetadata: {schema: metadata/Document/v1, name: x${more}}\n`;

const node = (data: string) => `${head('drydock/BaremetalNode/v1')}data:\n${data}`;

it.each([
  [
    'beside a wrong value',
    node('  oob: {type: ipmi, credential: hunter2, libvirt_uri: [x]}\n  platform: {password: hunter2, image: {}}\n'),
  ],
  ['as a wrong value', node('  platform: {image: jammy, kernel_params: {password: [hunter2]}}\n')],
  ['below its key', node('  oob:\n    credential:\n      - [hunter2\n')],
  [
    'as data of a passphrase',
    `${head('deckhand/Passphrase/v1', ', storagePolicy: encrypted')}data: {armada: {manifest: [hunter2]}}\n`,
  ],
  [
    'in an encrypted document',
    `${head('shipyard/DeploymentConfiguration/v1', ', storagePolicy: encrypted')}data: {armada: {manifest: [hunter2]}}\n`,
  ],
])('a check that fails prints no secret %s', async (_where, text) => {
  const file = join(mkdtempSync(join(tmpdir(), 'secret-')), 'site.yaml');
  writeFileSync(file, text);
  for (const format of ['table', 'json'])
    for (const verb of ['check', 'render']) {
      const { code, out, err } = await cli(['site', verb, file, '-f', format], {});
      // What is rendered is printed whole.
      if (verb === 'check' || code !== 0) expect(`${out}${err}`).not.toContain('hunter2');
    }
});

it('documents that cannot be rendered end with exit code 2 and all their problems, and print no document', async () => {
  const control = 'metadata: {schema: metadata/Control/v1, name: layering-policy}';
  const policy = `---\nschema: deckhand/LayeringPolicy/v1\n${control}\ndata: {layerOrder: [site]}\n`;
  const passphrase = '{schema: deckhand/Passphrase/v1, name: nobody, path: .}';
  const layered = (name: string, layer: string, more = '') =>
    `${head('drydock/BaremetalNode/v1', `, storagePolicy: cleartext, layeringDefinition: {layer: ${layer}}${more}`)}data: {credential: hunter2}\n`.replace(
      'name: x',
      `name: ${name}`,
    );
  const substitution = `, substitutions: [{dest: {path: .credential}, src: ${passphrase}}]`;
  const file = join(mkdtempSync(join(tmpdir(), 'unrendered-')), 'site.yaml');
  writeFileSync(file, policy + layered('n1', 'site', substitution) + layered('n2', 'nowhere'));
  const { code, out, err } = await cli(['site', 'render', file, '-f', 'json'], {});
  expect([code, out]).toEqual([2, '']);
  const problem = JSON.parse(err);
  expect(problem.code).toBe('invalid');
  expect(problem.errors.map((one: { code: string; line: number }) => [one.code, one.line])).toEqual([
    ['rendering.missing-source', 7],
    ['rendering.unknown-layer', 11],
  ]);
  expect(err).not.toContain('hunter2');
  writeFileSync(file, policy + layered('n2', 'site'));
  const whole = await cli(['site', 'render', file, '-f', 'json'], {});
  expect(whole.code).toBe(0);
  expect(JSON.parse(whole.out).map((one: object) => Object.keys(one))).toContainEqual(['schema', 'metadata', 'data']);
});
