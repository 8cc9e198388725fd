import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, describe, expect, it } from 'vitest';
import { installationScript } from '../../../../src/agent/onboarding/install-over-ssh.ts';
import { systemdUnit } from '../../../../src/agent/onboarding/systemd-unit.ts';
import { agentCloudConfig, mergeUserData } from '../../../../src/agent/onboarding/user-data.ts';
import { issueTicket } from '../../../../src/gateway/index.ts';
import { openStore } from '../../../../src/store/index.ts';
import { nodeUserData } from '../../../../worker/parts/node-user-data.ts';

const ticket = {
  gateway: 'https://gw:8443',
  authority: '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n',
  token: 'swt_x',
};
const packages = { agentPackage: 'https://files.example/sitewright.tgz', nodePackage: 'nodejs' };
interface CloudConfig {
  packages?: string[];
  write_files: { path: string; permissions: string; content: string }[];
  runcmd: string[][];
}
const read = (text: string) => load(text) as CloudConfig;

describe('the user data of a node', () => {
  it('installs ticket, unit, Node.js and the agent, and starts it last', () => {
    const text = agentCloudConfig(ticket, packages);
    expect(text).toMatch(/^#cloud-config\n/);
    const config = read(text);
    expect(config.packages).toEqual(['nodejs', 'npm', 'curl']);
    const [file, unit] = config.write_files;
    expect(file).toMatchObject({ path: '/etc/sitewright/ticket.json', permissions: '0600' });
    expect(JSON.parse(file!.content)).toEqual(ticket);
    expect(unit!.content).toBe(systemdUnit('/opt/sitewright/bin/sitewright', '/etc/sitewright'));
    for (const line of ['KillMode=process', 'Delegate=yes', 'Restart=always'])
      expect(unit!.content.split('\n')).toContain(line);
    expect(config.runcmd.at(-1)).toEqual(['systemctl', 'enable', '--now', 'sitewright-agent.service']);
    // A list of a list is run without a shell.
    expect(config.runcmd.flat().every((word) => typeof word === 'string')).toBe(true);
    expect(text.split('swt_x')).toHaveLength(2);
  });

  it('fetches Node.js if the distribution has no recent one', () => {
    const config = read(agentCloudConfig(ticket, { ...packages, nodePackage: 'https://files.example/node.tar.xz' }));
    expect(config.packages).toBeUndefined();
    expect(config.runcmd.map(([program]) => program)).toEqual([
      'set',
      'chmod',
      'curl',
      'tar',
      'curl',
      'npm',
      'systemctl',
      'systemctl',
    ]);
  });

  describe('of packages with a checksum', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sitewright-packages-'));
    const file = join(folder, 'package');
    writeFileSync(file, 'a package');
    afterAll(() => rmSync(folder, { recursive: true }));
    const checksum = createHash('sha512').update('a package').digest('base64');
    const withChecksum = (name: string) => `http://files.example/${name}#sha512-${checksum}`;
    const addresses = { agentPackage: withChecksum('agent.tgz'), nodePackage: withChecksum('node.tar.xz') };

    /** The exit code of a command that reads `file` in the place of `fetched`. */
    function exitCode(command: readonly string[], fetched: string): number {
      const [program, ...args] = command.map((word) => word.replaceAll(fetched, file));
      try {
        execFileSync(program!, args, { stdio: 'ignore' });
        return 0;
      } catch (error) {
        return (error as { status: number }).status;
      }
    }

    it.each(['/run/node.tar.xz', '/run/sitewright-agent.tgz'])('compares %s with it before it is used', (fetched) => {
      const { runcmd } = read(agentCloudConfig(ticket, addresses));
      const [fetch, check, use, ...later] = runcmd.filter((command) => command.some((word) => word.includes(fetched)));
      expect(fetch![0]).toBe('curl');
      expect(fetch!.at(-1)).toMatch(/^http:[^#]+$/);
      expect(['tar', 'npm']).toContain(use![0]);
      expect(later).toEqual([]);
      writeFileSync(file, 'a package');
      expect(exitCode(check!, fetched)).toBe(0);
      writeFileSync(file, 'another package');
      expect(exitCode(check!, fetched)).not.toBe(0);
      expect(runcmd[0]).toEqual(['set', '-e']);
    });

    it('lets curl take nothing in clear without one, by no redirect either', () => {
      const { runcmd } = read(agentCloudConfig(ticket, packages));
      expect(runcmd.find(([program]) => program === 'curl')!.join(' ')).toContain('--proto =https');
    });

    it('does the same over ssh', () => {
      const script = installationScript({ ticket, agentPackage: addresses.agentPackage, program: '/opt/s/bin/s' });
      const steps = script.split('\n').map((line) => /^ *'?(curl|sh|npm)'? /.exec(line)?.[1]);
      expect(steps.filter((step) => step !== undefined)).toEqual(['curl', 'sh', 'npm']);
      expect(script.startsWith('set -eu\n')).toBe(true);
    });
  });

  it("is merged with the operator's own, of whatever kind", () => {
    const own = agentCloudConfig(ticket, packages);
    expect(mergeUserData(['', own])).toBe(own);
    const merged = mergeUserData(['#!/bin/sh\necho "ü" `id`\n', own, '#include\nhttps://x\n']);
    const boundary = /boundary="([^"]+)"/.exec(merged)![1]!;
    const parts = merged.split(`--${boundary}`).slice(1, -1);
    const kinds = parts.map((part) => /Content-Type: ([^;]+)/.exec(part)?.[1]);
    expect(kinds).toEqual(['text/x-shellscript', 'text/cloud-config', 'text/x-include-url']);
    const bodies = parts.map((part) => Buffer.from(part.split('\n\n').slice(1).join(''), 'base64').toString('utf8'));
    expect(bodies[0]).toBe('#!/bin/sh\necho "ü" `id`\n');
    expect(bodies[1]).toBe(own);
    expect(merged.endsWith(`--${boundary}--\n`)).toBe(true);
    const nested = mergeUserData([merged, own]);
    expect(nested).toContain(`Content-Type: multipart/mixed; boundary="${boundary}"`);
    expect(nested.match(/^MIME-Version: 1.0$/gm)!.length).toBeGreaterThan(3);
  });
});

describe('tickets', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sitewright-tickets-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('are equal for equal requests only; none is stored in clear', async () => {
    const store = await openStore(`sqlite:${join(folder, 'store.db')}`);
    const office = {
      dataDir: join(folder, 'gateway'),
      gatewayUrl: 'https://gw',
      identities: store.nodeIdentities,
      tokenHours: 1,
    };
    const issue = async (...args: [string, string, string?]) => (await issueTicket(office, ...args)).token;
    const token = await issue('dc1', 'n1', 'run-1');
    expect(await issue('dc1', 'n1', 'run-1')).toBe(token);
    const others = [
      await issue('dc1', 'n1', 'run-1#2'),
      await issue('dc1', 'n2', 'run-1'),
      await issue('dc2', 'n1', 'run-1'),
    ];
    others.push(await issue('dc1', 'n1'), await issue('dc1', 'n1'));
    expect(new Set([token, ...others]).size).toBe(6);
    const settings = {
      gateway: {
        host: 'gw.example',
        port: 8443,
        data_dir: office.dataDir,
        source_roots: '',
        token_hours: 1,
        node_package: 'nodejs',
      },
    };
    expect(await nodeUserData(settings, store, 'own')('dc1', 'n1', 'w')).toBe('own');
    const wanted = { gateway: { ...settings.gateway, agent_package: packages.agentPackage } };
    const text = (await nodeUserData(wanted, store, undefined)('dc1', 'n1', 'w'))!;
    const { gateway } = JSON.parse(read(text).write_files[0]!.content) as typeof ticket;
    expect(gateway).toBe('https://gw.example:8443');
    // A repeated deploy hands out the data that the machine already has.
    expect(await nodeUserData(wanted, store, undefined)('dc1', 'n1', 'w')).toBe(text);
    await store.close();
  });
});
