import { expect, it } from 'vitest';
import { runCli } from '../../../src/cli/run-cli.ts';
import { recordingTerminal } from './recording-terminal.ts';

it('the doctor shows a warning with its fix', async () => {
  const env = {
    SITEWRIGHT_STORE_URL: 'sqlite::memory:',
    SITEWRIGHT_API: 'http://127.0.0.1:9',
    SITEWRIGHT_SOTRE_URL: 'x',
  };
  const terminal = recordingTerminal({ env: { ...env, SITEWRIGHT_TEMPORAL_ADDRESS: '127.0.0.1:9' } });
  await runCli(['doctor'], terminal);
  expect(terminal.said.out).toMatch(
    /^warn {2}settings +.*SITEWRIGHT_SOTRE_URL.*\n +fix: See docs\/reference\/settings\.md/m,
  );
});
