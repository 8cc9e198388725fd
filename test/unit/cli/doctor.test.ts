import { expect, it } from 'vitest';
import { storeOnNodeFindings } from '../../../src/cli/commands/doctor.ts';
import { runCli } from '../../../src/cli/run-cli.ts';
import { recordingTerminal } from './recording-terminal.ts';

it.each([
  ['20.19.0', 'sqlite:./a.db', []],
  ['22.99.0', 'sqlite:./a.db', []],
  ['24.18.9', './a.db', []],
  ['24.19.0', 'sqlite:./a.db', ['warn']],
  ['24.19.0', './a.db', ['warn']],
  ['25.0.0', 'sqlite::memory:', ['warn']],
  ['24.21.0', 'postgres://u@h/d', []],
  ['26.1.0', 'postgresql://u@h/d', []],
])('Node.js %s with the store %s: %j', (version, url, states) =>
  expect(storeOnNodeFindings(version, url).map(({ state }) => state)).toEqual(states),
);

it('a warning does not make the doctor fail, and its fix is shown', async () => {
  const own = process.versions.node;
  Object.defineProperty(process.versions, 'node', { value: '24.20.0', configurable: true });
  try {
    const env = { SITEWRIGHT_STORE_URL: 'sqlite::memory:', SITEWRIGHT_API: 'http://127.0.0.1:9' };
    const terminal = recordingTerminal({ env: { ...env, SITEWRIGHT_TEMPORAL_ADDRESS: '127.0.0.1:9' } });
    await runCli(['doctor'], terminal);
    expect(terminal.said.out).toMatch(/^warn {2}sqlite on node +SQLite on Node\.js 24\.20\.0.*\n +fix: .*24\.18/m);
  } finally {
    Object.defineProperty(process.versions, 'node', { value: own, configurable: true });
  }
});
