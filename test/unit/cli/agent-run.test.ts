import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cli } from './recording-terminal.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sitewright-agent-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  ['a file', 'file', /it is not a folder/],
  ['below a file', 'file/below', /a part of the path is not a folder/],
])(
  'an agent whose journals would be %s names the setting to correct, and accepts no task',
  async (_what, path, why) => {
    writeFileSync(join(folder, 'file'), '');
    const stateDir = join(folder, path);
    const { code, err } = await cli(['agent', 'run', '--site', 'dc1', '--node', 'n1', '--state-dir', stateDir], {
      cwd: folder,
      env: { SITEWRIGHT_TEMPORAL_ADDRESS: '127.0.0.1:9' },
    });
    expect(err).toMatch(why);
    expect(err).toContain(stateDir);
    expect(err).toContain('SITEWRIGHT_AGENT_STATE_DIR');
    expect(code).toBe(2);
  },
);
