import { randomBytes } from 'node:crypto';
import { dump } from 'js-yaml';
import { downloadOf } from '../../core/text/download-address.ts';
import type { EnrolmentTicket } from './enrolment-ticket.ts';
import { fetchPackage } from './fetch-package.ts';
import { systemdUnit } from './systemd-unit.ts';

/** The agent's configuration folder on a node. */
export const NODE_FOLDER = '/etc/sitewright';
const UNIT_FILE = '/etc/systemd/system/sitewright-agent.service';
const PROGRAM_FOLDER = '/opt/sitewright';
const NODE_FILE = '/run/node.tar.xz';
export const AGENT_FILE = '/run/sitewright-agent.tgz';

interface AgentInstallation {
  /** Address of the Sitewright package (.tgz), as `downloadOf` reads it. */
  readonly agentPackage: string;
  /** A package of the distribution, or the address of a Node.js release (.tar.xz). */
  readonly nodePackage: string;
}

/**
 * The part of a node's user data (cloud-config) that installs the agent: ticket, unit, Node.js, the Sitewright package.
 * The ticket is written before anything is fetched; the agent starts when everything is installed.
 */
export function agentCloudConfig(ticket: EnrolmentTicket, { agentPackage, nodePackage }: AgentInstallation): string {
  const agent = downloadOf(agentPackage);
  if (agent === undefined) throw new Error(`gateway.agent_package cannot be installed: ${agentPackage}`);
  const node = downloadOf(nodePackage);
  const config = {
    ...(node === undefined ? { packages: [nodePackage, 'npm', 'curl'] } : {}),
    write_files: [
      {
        path: `${NODE_FOLDER}/ticket.json`,
        owner: 'root:root',
        permissions: '0600',
        content: JSON.stringify(ticket),
      },
      {
        path: UNIT_FILE,
        owner: 'root:root',
        permissions: '0644',
        content: systemdUnit(`${PROGRAM_FOLDER}/bin/sitewright`, NODE_FOLDER),
      },
    ],
    // cloud-init runs lists without a shell.
    runcmd: [
      // They are one script: without this, only the failure of its last command counts.
      ['set', '-e'],
      ['chmod', '0700', NODE_FOLDER],
      ...(node === undefined
        ? []
        : [
            ...fetchPackage(node, NODE_FILE),
            ['tar', '--extract', '--file', NODE_FILE, '--directory', '/usr/local', '--strip-components', '1'],
          ]),
      ...fetchPackage(agent, AGENT_FILE),
      ['npm', 'install', '--global', '--omit=dev', '--no-audit', '--no-fund', '--prefix', PROGRAM_FOLDER, AGENT_FILE],
      ['systemctl', 'daemon-reload'],
      ['systemctl', 'enable', '--now', 'sitewright-agent.service'],
    ],
    merge_how: [
      { name: 'list', settings: ['append'] },
      { name: 'dict', settings: ['no_replace', 'recurse_list'] },
    ],
  };
  return `#cloud-config\n${dump(config, { lineWidth: -1 })}`;
}

const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^#cloud-config-archive\b/, 'text/cloud-config-archive'],
  [/^#cloud-config\b/, 'text/cloud-config'],
  [/^#cloud-boothook\b/, 'text/cloud-boothook'],
  [/^#include-once\b/, 'text/x-include-once-url'],
  [/^#include\b/, 'text/x-include-url'],
  [/^#part-handler\b/, 'text/part-handler'],
  [/^## template: jinja/, 'text/jinja2'],
  [/^#!/, 'text/x-shellscript'],
];

/**
 * Merges pieces of user data into one (MIME multi-part), in order: the operator's own first. A piece that is itself
 * multi-part is nested; cloud-init unpacks it.
 */
export function mergeUserData(parts: readonly string[]): string {
  const present = parts.filter((part) => part.trim() !== '');
  if (present.length === 1) return present[0] as string;
  const boundary = `=_sitewright_${randomBytes(12).toString('hex')}`;
  const bodies = present.map((part, at) => {
    const nested = /^(content-type:\s*multipart\/|mime-version:)/i.test(part);
    if (nested) return `--${boundary}\n${part.replace(/^mime-version:[^\n]*\n/i, '')}`;
    const kind = KINDS.find(([start]) => start.test(part))?.[1] ?? 'text/plain';
    const lines =
      Buffer.from(part, 'utf8')
        .toString('base64')
        .match(/.{1,76}/g) ?? [];
    return [
      `--${boundary}`,
      `Content-Type: ${kind}; charset="utf-8"`,
      'MIME-Version: 1.0',
      'Content-Transfer-Encoding: base64',
      `Content-Disposition: attachment; filename="part-${at + 1}"`,
      '',
      ...lines,
    ].join('\n');
  });
  return `Content-Type: multipart/mixed; boundary="${boundary}"\nMIME-Version: 1.0\n\n${bodies.join('\n')}\n--${boundary}--\n`;
}
