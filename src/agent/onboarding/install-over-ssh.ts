import type { EnrolmentTicket } from './enrolment-ticket.js';
import { runOverSsh, type SshTarget, shellWord, sshTargetProblem } from './ssh-command.js';
import { systemdUnit } from './systemd-unit.js';
import { NODE_FOLDER } from './user-data.js';

export interface SshInstallation {
  readonly ticket: EnrolmentTicket;
  /** URL of our package (.tgz); absent: the program is there already. */
  readonly agentPackage?: string;
  /** Absolute path of the `sitewright` command on the machine. */
  readonly program: string;
  /** Folder that stands for `/` on the machine. For tests. */
  readonly root?: string;
  /** Enrol anew a machine that has credentials. */
  readonly again?: boolean;
}

export type InstallationEnd =
  /** What was done, step by step; `unchanged` where it was so already. */
  | { readonly ok: true; readonly steps: readonly { readonly what: string; readonly changed: boolean }[] }
  | { readonly ok: false; readonly message: string; readonly hint: string };

/**
 * Makes a machine that was not deployed by us a node: ticket, unit, package, start. May be repeated: what is as it
 * should be stays. A machine that is enrolled gets no new ticket, unless that is asked for.
 */
export async function installOverSsh(target: SshTarget, wish: SshInstallation): Promise<InstallationEnd> {
  const problem = sshTargetProblem(target);
  if (problem !== undefined) return { ok: false, message: problem, hint: 'Write it as [USER@]HOST.' };
  const end = await runOverSsh(target, installationScript(wish));
  if (end.exitCode === 0) {
    const steps = end.stdout.split('\n').flatMap((line) => {
      const [, word, what] = /^sitewright:(changed|unchanged):(.*)$/.exec(line) ?? [];
      return what === undefined ? [] : [{ what, changed: word === 'changed' }];
    });
    return { ok: true, steps };
  }
  const said = end.stderr.trim().split('\n').slice(-3).join('; ').slice(0, 500);
  if (end.exitCode !== 255)
    return { ok: false, message: `the machine said: ${said}`, hint: 'Mend it and repeat the command.' };
  const hint = /host key|HOST IDENTIFICATION/i.test(said)
    ? 'Compare the fingerprint with the console of the machine, then put its key into known_hosts; it is never learnt by itself.'
    : 'Try the same with ssh itself; a key without a passphrase, or an ssh agent, is needed.';
  return { ok: false, message: `no connection to ${target.host}: ${said}`, hint };
}

/** Placed whole, by renaming; `changed` only when it was not the same. */
const PLACE = `place() { # path mode, content on stdin
  mkdir -p "$(dirname "$1")"
  new=$(mktemp "$1.XXXXXX")
  cat >"$new"
  if [ -f "$1" ] && cmp -s "$new" "$1" && [ "$(stat -c %a "$1")" = "$2" ]; then rm -f "$new"; echo "sitewright:unchanged:$1"; return; fi
  chmod "$2" "$new"
  mv -f "$new" "$1"
  echo "sitewright:changed:$1"
}`;

/** Everything in one script, so that one connection does it; data stands in single-quoted words only. */
function installationScript({ ticket, agentPackage, program, root = '', again = false }: SshInstallation): string {
  const folder = `${root}${NODE_FOLDER}`;
  const unit = `${root}/etc/systemd/system/sitewright-agent.service`;
  const prefix = program.replace(/\/bin\/[^/]+$/, '');
  return `set -eu
umask 077
${PLACE}
[ "$(id -u)" = 0 ] || { echo 'root is needed; give root@HOST' >&2; exit 1; }
mkdir -p ${shellWord(folder)}
chmod 700 ${shellWord(folder)}
if [ -f ${shellWord(`${folder}/credentials.json`)} ] && [ ${again ? 1 : 0} = 0 ]; then
  echo ${shellWord('sitewright:unchanged:it is enrolled')}
else
  printf %s ${shellWord(JSON.stringify(ticket))} | place ${shellWord(`${folder}/ticket.json`)} 600
fi
printf %s ${shellWord(systemdUnit(program, folder))} | place ${shellWord(unit)} 644
${
  agentPackage === undefined
    ? `[ -x ${shellWord(`${root}${program}`)} ] || { echo ${shellWord(`${program} is not there: set gateway.agent_package`)} >&2; exit 1; }`
    : `command -v npm >/dev/null || { echo 'Node.js 20.19 or newer with npm is not there: install it first' >&2; exit 1; }
if [ "$(cat ${shellWord(`${folder}/package`)} 2>/dev/null)" = ${shellWord(agentPackage)} ] && [ -x ${shellWord(program)} ]; then
  echo ${shellWord('sitewright:unchanged:the package')}
else
  npm install --global --omit=dev --prefix ${shellWord(prefix)} ${shellWord(agentPackage)} >&2
  printf %s ${shellWord(agentPackage)} | place ${shellWord(`${folder}/package`)} 600
fi`
}
if [ -d /run/systemd/system ] && [ ${root === '' ? 1 : 0} = 1 ]; then
  systemctl daemon-reload
  systemctl enable --quiet --now sitewright-agent.service
  echo ${shellWord('sitewright:changed:the service is enabled and started')}
else
  echo ${shellWord('sitewright:unchanged:no systemd runs here: start the agent yourself')}
fi
`;
}
