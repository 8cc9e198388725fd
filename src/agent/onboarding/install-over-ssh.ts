import { downloadOf } from '../../core/text/download-address.ts';
import { shellWord } from '../../core/text/text.ts';
import type { EnrolmentTicket } from './enrolment-ticket.ts';
import { fetchPackage } from './fetch-package.ts';
import { runOverSsh, type SshTarget, sshTargetProblem } from './ssh-command.ts';
import { systemdUnit } from './systemd-unit.ts';
import { AGENT_FILE, NODE_FOLDER } from './user-data.ts';

export interface SshInstallation {
  readonly ticket: EnrolmentTicket;
  /** Address of the package (.tgz), as `downloadOf` reads it. Absent: the program is already installed. */
  readonly agentPackage?: string;
  /** Absolute path of the `sitewright` command on the machine. */
  readonly program: string;
  /** Folder to use as `/` on the machine. For tests. */
  readonly root?: string;
  /** Enrol a machine again even if it has credentials. */
  readonly again?: boolean;
}

export type InstallationEnd =
  /** The steps; `changed` is false if there was nothing to do. */
  | { readonly ok: true; readonly steps: readonly { readonly what: string; readonly changed: boolean }[] }
  | { readonly ok: false; readonly message: string; readonly hint: string };

/**
 * Makes a node of a machine that Sitewright did not deploy: installs ticket, unit and package, and starts the agent.
 * May be repeated. An enrolled machine gets a new ticket only on request (`again`).
 */
export async function installOverSsh(target: SshTarget, installation: SshInstallation): Promise<InstallationEnd> {
  const problem = sshTargetProblem(target);
  if (problem !== undefined) return { ok: false, message: problem, hint: 'Write it as [USER@]HOST.' };
  const end = await runOverSsh(target, installationScript(installation));
  if (end.exitCode === 0) {
    const steps = end.stdout.split('\n').flatMap((line) => {
      const [, word, what] = /^sitewright:(changed|unchanged):(.*)$/.exec(line) ?? [];
      return what === undefined ? [] : [{ what, changed: word === 'changed' }];
    });
    return { ok: true, steps };
  }
  const said = end.stderr.trim().split('\n').slice(-3).join('; ').slice(0, 500);
  if (end.exitCode !== 255)
    return { ok: false, message: `the machine reported: ${said}`, hint: 'Fix it and repeat the command.' };
  const hint = /host key|HOST IDENTIFICATION/i.test(said)
    ? 'Compare the fingerprint with the console of the machine, then put its key into known_hosts; Sitewright never adds a key.'
    : 'Try the same connection with ssh. It needs a key without a passphrase, or an ssh agent.';
  return { ok: false, message: `no connection to ${target.host}: ${said}`, hint };
}

/** Places a file atomically, by renaming; prints `changed` only if it was different. */
const PLACE = `place() { # path mode, content on stdin
  mkdir -p "$(dirname "$1")"
  new=$(mktemp "$1.XXXXXX")
  cat >"$new"
  if [ -f "$1" ] && cmp -s "$new" "$1" && [ "$(stat -c %a "$1")" = "$2" ]; then rm -f "$new"; echo "sitewright:unchanged:$1"; return; fi
  chmod "$2" "$new"
  mv -f "$new" "$1"
  echo "sitewright:changed:$1"
}`;

/** Everything in one script, for one connection; data is in single-quoted words only. */
export function installationScript({
  ticket,
  agentPackage,
  program,
  root = '',
  again = false,
}: SshInstallation): string {
  const folder = `${root}${NODE_FOLDER}`;
  const unit = `${root}/etc/systemd/system/sitewright-agent.service`;
  const prefix = program.replace(/\/bin\/[^/]+$/, '');
  return `set -eu
umask 077
${PLACE}
[ "$(id -u)" = 0 ] || { echo 'root is required; use root@HOST' >&2; exit 1; }
mkdir -p ${shellWord(folder)}
chmod 700 ${shellWord(folder)}
if [ -f ${shellWord(`${folder}/credentials.json`)} ] && [ ${again ? 1 : 0} = 0 ]; then
  echo ${shellWord('sitewright:unchanged:already enrolled')}
else
  printf %s ${shellWord(JSON.stringify(ticket))} | place ${shellWord(`${folder}/ticket.json`)} 600
fi
printf %s ${shellWord(systemdUnit(program, folder))} | place ${shellWord(unit)} 644
${
  agentPackage === undefined
    ? `[ -x ${shellWord(`${root}${program}`)} ] || { echo ${shellWord(`${program} does not exist: set gateway.agent_package`)} >&2; exit 1; }`
    : `command -v npm >/dev/null || { echo 'Node.js 24.15 or newer with npm is not installed: install it first' >&2; exit 1; }
command -v curl >/dev/null || { echo 'curl is not installed: install it first' >&2; exit 1; }
if [ "$(cat ${shellWord(`${folder}/package`)} 2>/dev/null)" = ${shellWord(agentPackage)} ] && [ -x ${shellWord(program)} ]; then
  echo ${shellWord('sitewright:unchanged:the package')}
else
${fetching(agentPackage)}
  npm install --global --omit=dev --prefix ${shellWord(prefix)} ${shellWord(AGENT_FILE)} >&2
  printf %s ${shellWord(agentPackage)} | place ${shellWord(`${folder}/package`)} 600
fi`
}
if [ -d /run/systemd/system ] && [ ${root === '' ? 1 : 0} = 1 ]; then
  systemctl daemon-reload
  systemctl enable --quiet --now sitewright-agent.service
  echo ${shellWord('sitewright:changed:the service is enabled and started')}
else
  echo ${shellWord('sitewright:unchanged:systemd is not running: start the agent yourself')}
fi
`;
}

function fetching(address: string): string {
  const download = downloadOf(address);
  if (download === undefined) throw new Error(`gateway.agent_package cannot be installed: ${address}`);
  const commands = fetchPackage(download, AGENT_FILE);
  return commands.map((words) => `  ${words.map(shellWord).join(' ')} >&2`).join('\n');
}
