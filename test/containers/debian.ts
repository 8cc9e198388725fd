// `npm run debian`: our Debian packages, installed, attacked by an operator, upgraded and removed on a Debian that boots with systemd in
// a container. While they are upgraded, a task runs. Prints each command with its time: debian.txt is a transcript. Needs root and
// podman, and no registry (see stand-ins.ts).
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findTemporalBinary } from '../../src/platform/temporal/find-server.ts';
import { makeStandIns, packNode, podmanEnvironment } from './stand-ins.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const IMAGE = 'sitewright/systemd:bookworm';
/** The version that the packages are upgraded to. */
const NEXT = '999.0.0';
const startedAt = performance.now();
const seconds = (): string => `${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s`;
const say = (line: string): void => console.log(`${seconds()}  ${line}`);

const folder = await mkdtemp(join(tmpdir(), 'sitewright-debian-'));
const env = await podmanEnvironment(folder);
const container = `sitewright-debian-${process.pid}`;

async function quiet(command: string, args: readonly string[]): Promise<string> {
  try {
    return (await run(command, args, { cwd: root, env, maxBuffer: 2 ** 26 })).stdout.trim();
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout.slice(-3_000)}${stderr.slice(-3_000)}`);
  }
}

/** Runs a script in the container. @returns its output */
const ask = (script: string): Promise<string> =>
  quiet('podman', ['exec', container, 'bash', '-euo', 'pipefail', '-c', script]);

/** The same, and shows it. */
async function does(script: string): Promise<string> {
  say(`$ ${token === '' ? script : script.replaceAll(token, '…')}`);
  const said = await ask(script);
  for (const line of said.split('\n').filter((each) => each !== '')) say(`    ${line}`);
  return said;
}

/** @throws Error unless a script's output is as expected */
async function holds(what: string, script: string, expected: string | RegExp): Promise<void> {
  const said = await ask(script);
  if (typeof expected === 'string' ? said !== expected : !expected.test(said))
    throw new Error(`not so: ${what}. ${script}\nsaid: ${said}\nexpected: ${expected}`);
  say(what);
}

/** Waits until a script succeeds. */
async function until(what: string, script: string, limitMs = 90_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const problem = await ask(script).then(
      () => undefined,
      (error: Error) => error.message,
    );
    if (problem === undefined) return say(what);
    if (performance.now() > deadline) {
      const log = await ask('journalctl --no-pager --lines 40 --unit "sitewright*"').catch(String);
      throw new Error(`${what}: not within ${limitMs / 1000} s: ${problem}\n${log}`);
    }
    await delay(500);
  }
}

const pack = async (into: string, ...args: readonly string[]): Promise<Record<string, string>> => {
  const target = join(folder, into);
  await quiet(process.execPath, ['scripts/pack-deb.mjs', target, ...args]);
  const sums: Record<string, string> = {};
  for (const name of await readdir(target))
    sums[name] = createHash('sha256')
      .update(await readFile(join(target, name)))
      .digest('hex');
  return sums;
};

const LONG = `- id: long
  type: shell
  version: 2.1.0
  tags: '*'
  parameters:
    cmd: 'echo $$ >>/srv/long.started; until [ -e /srv/go-on ]; do sleep 0.2; done; echo done >>/srv/long.ended'
    timeout: 600
`;
const running = (unit: string) => `systemctl is-active --quiet ${unit}`;
const pidOf = (unit: string) => `systemctl show --property MainPID --value ${unit}`;
const SERVERS = ['sitewright-api', 'sitewright-worker', 'sitewright-gateway'];
const AGENT = 'sitewright-agent';
let token = '';
/** The command line, with our token. */
const cli = (args: string) => `SITEWRIGHT_TOKEN=${token} sitewright ${args}`;
const install = (name: string, version = '') =>
  does(`dpkg --install /srv/debs${version}/${name}_*.deb 2>&1 | grep -v '^(Reading'`);

async function prepare(): Promise<void> {
  const cliOfTemporal = await findTemporalBinary();
  if (cliOfTemporal.status === 'missing') throw new Error('the Temporal server is missing: see CONTRIBUTING.md');
  await makeStandIns(env, { systemd: IMAGE }, say);
  const [first, second] = [await pack('debs'), await pack('again')];
  for (const [name, sum] of Object.entries(first)) {
    if (second[name] !== sum) throw new Error(`${name} is not reproducible`);
    say(`${name}: ${sum.slice(0, 16)}…, twice`);
  }
  await pack('debs-next', '--version', NEXT);
  await packNode(folder, join(folder, 'debs/nodejs.deb'));
  const args = ['--detach', '--name', container, '--hostname', 'one', '--network', 'none', '--systemd', 'always'];
  // For mounts of the services, and to inspect them.
  await quiet('podman', ['run', ...args, '--cap-add', 'NET_ADMIN,NET_RAW,SYS_ADMIN,SYS_BOOT,SYS_PTRACE', IMAGE]);
  for (const [from, to] of [
    ['debs', '/srv/'],
    ['debs-next', '/srv/'],
  ] as const)
    await quiet('podman', ['cp', join(folder, from), `${container}:${to}`]);
  await quiet('podman', ['cp', cliOfTemporal.path, `${container}:/usr/local/bin/temporal`]);
  await quiet('podman', ['cp', join(root, 'examples/first-release'), `${container}:/srv/`]);
  await until('the machine has booted', 'systemctl is-system-running');
}

async function installServer(): Promise<void> {
  await holds(
    'without Node.js the package is not configured',
    'dpkg --install /srv/debs/sitewright_*.deb 2>&1 || dpkg --purge sitewright >/dev/null 2>&1',
    /depends on nodejs \(>= \d+\.\d+\)/,
  );
  await does('dpkg --install /srv/debs/nodejs.deb >/dev/null');
  await install('sitewright');
  await does('systemctl enable --now --quiet sitewright-temporal');
  for (const unit of [...SERVERS, 'sitewright-temporal']) await until(`${unit} runs`, running(unit));
  await holds(
    'systemd has nothing against the units',
    'systemd-analyze verify /usr/lib/systemd/system/sitewright* 2>&1',
    '',
  );
  for (const unit of SERVERS) {
    const status = `cat /proc/$(${pidOf(unit)})/status | grep -E "^(Uid|CapBnd|NoNewPrivs|Seccomp):" | tr -s "\\t" " " | cut -d" " -f1,2`;
    const user = await ask('id --user sitewright');
    const expected = `Uid: ${user}\nCapBnd: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2`;
    await holds(`${unit} is not root, and has no capability`, status, expected);
    const other = `nsenter --target $(${pidOf(unit)}) --mount sh -c 'touch /usr/x /etc/x 2>&1 || true'`;
    await holds(`${unit} sees a read-only system`, other, /Read-only file system[\s\S]*Read-only file system/);
  }
  await does('systemd-analyze --no-pager security | grep ^sitewright | tr -s " "');
  await holds(
    'the settings, which may have a password, are for root and sitewright only',
    'stat --format "%U %G %a" /etc/sitewright/sitewright.yaml',
    'root sitewright 640',
  );
  await holds(
    'functions of a user are loaded from /etc/sitewright',
    `printf '%s\\n' "import { defineFunction, p } from 'sitewright/yaql';" "export const helpers = [defineFunction({ name: 'shout', call: 'function', documentation: '', parameters: [p.string('of')], implementation: (_, of) => of.toUpperCase() })];" >/etc/sitewright/helpers.mjs
      runuser --user sitewright -- env SITEWRIGHT_YAQL_HELPERS=/etc/sitewright/helpers.mjs sitewright yaql eval 'shout(a)'; rm /etc/sitewright/helpers.mjs`,
    '"A"',
  );
  token = await ask('runuser --user sitewright -- sitewright token bootstrap 2>/dev/null');
  await until(
    'API, worker and Temporal are found',
    `(${cli('doctor')} || true) | grep -E "^ok +(temporal|worker|api)" | wc --lines | grep -qx 3`,
  );
}

async function installAgent(): Promise<void> {
  await install(AGENT);
  await holds(
    'without a ticket the agent waits, enabled',
    `systemctl is-enabled ${AGENT}; systemctl is-active ${AGENT} || true`,
    'enabled\ninactive',
  );
  for (const args of [
    'package install /srv/first-release',
    'cluster create lab --release first-release',
    'node register --name node-1 --provisioned',
    'cluster add-nodes lab --nodes node-1 --roles spare',
  ])
    await does(cli(args));
  await does(
    'umask 077; runuser --user sitewright -- sitewright agent token --site cluster-1 --node 1 2>/dev/null >/etc/sitewright/ticket.json',
  );
  await does(`systemctl start ${AGENT}`);
  await until(
    'the node has enrolled',
    'test -s /etc/sitewright/credentials.json && ! test -e /etc/sitewright/ticket.json',
  );
}

const MASTER_AGENT = 'sitewright-master-agent';
/** What an attacker is after, each in its place. */
const LOOT = {
  'a secret of tasks in the environment': 'loot-environment',
  'a secret of tasks in a file': 'loot-file',
  'the key of MAAS': 'loot-maas',
  'the password of the store': 'loot-store',
};

/** A task of an operator on `master` that tries what the user of worker, gateway and API could do. */
const ATTACK = `- id: attack
  type: shell
  version: 2.1.0
  roles: [master]
  parameters:
    timeout: 120
    cmd: |
      echo "user $(id -un)"
      exec 2>&1
      cat /var/lib/sitewright-server/gateway/* /var/lib/sitewright-server/sitewright.db /var/lib/sitewright-server/secrets/db/*
      cat /etc/sitewright/* /proc/*/"root"/etc/sitewright/* /proc/*/cwd/gateway/*
      cat /proc/*/environ | tr '\\0' '\\n'
      grep -rsI 'loot-' /etc /var /srv /tmp /run /usr/local
      for unit in api gateway worker; do systemctl show sitewright-$unit --property Environment,EnvironmentFiles; done
      SITEWRIGHT_CONFIG=/etc/sitewright/sitewright.yaml sitewright token bootstrap --name evil
      SITEWRIGHT_STORE_URL=sqlite:/var/lib/sitewright-server/sitewright.db sitewright token bootstrap --name evil
      kill -KILL $(pgrep -u sitewright) || true
      for way in 'sudo -n' 'runuser -u sitewright --' 'su sitewright -s /bin/sh -c' 'systemd-run --pipe'; do $way cat /etc/sitewright/server.env; done
      echo 'shell: allow' >/etc/sitewright-master/policy.yaml
      echo "loot? no"
      true
`;

/** From an operator's token to what belongs to the installation, by file, environment and store. */
async function attack(): Promise<void> {
  const admin = token;
  await ask(`cat >/srv/attack.yaml <<'END'\n${ATTACK}END`);
  const made = await ask(cli('token create --name otto --role operator -f json'));
  token = (JSON.parse(made) as { readonly token: string }).token;
  const upload = cli('graph upload --env lab --type attack --file /srv/attack.yaml');
  await holds('by default a graph with a task on `master` is refused', `${upload} 2>&1 || true`, /agent\.master/);
  // As in the guide, but for one mistake of an administrator: the file with secrets is open to all.
  const settings = {
    'agent:\n  master: allow\n': '/etc/sitewright/sitewright.yaml',
    '# postgres://sitewright:loot-store@db/sitewright\nsecrets:\n  directory: /var/lib/sitewright-server/secrets\n':
      '/etc/sitewright/sitewright.yaml',
    'SW_SECRET_DB_PASSWORD=loot-environment\nSITEWRIGHT_MAAS_URL=http://127.0.0.1:9/MAAS\nSITEWRIGHT_MAAS_KEY=loot-maas:b:c\n':
      '/etc/sitewright/server.env',
  };
  for (const [text, file] of Object.entries(settings)) await ask(`printf '${text.replaceAll('\n', '\\n')}' >>${file}`);
  await ask(
    'install -d -o sitewright -m 700 /var/lib/sitewright-server/secrets/db; chown sitewright /var/lib/sitewright-server/secrets; install -o sitewright -m 600 /dev/stdin /var/lib/sitewright-server/secrets/db/other <<<loot-file',
  );
  await does('systemctl restart sitewright-api sitewright-worker sitewright-gateway');
  for (const unit of SERVERS) await until(`${unit} runs again`, running(unit));
  await does(
    'runuser --user sitewright -- sitewright agent token --site _installation --node master 2>/dev/null >/srv/master.json; chmod 600 /srv/master.json',
  );
  await does('install -d -o sitewright-master -g sitewright-master -m 700 /var/lib/sitewright-master');
  await does(
    'install -o sitewright-master -g sitewright-master -m 600 /srv/master.json /var/lib/sitewright-master/ticket.json',
  );
  await does(`rm /srv/master.json; install -d /etc/sitewright-master; systemctl enable --now --quiet ${MASTER_AGENT}`);
  await until('the agent of `master` has enrolled', 'test -s /var/lib/sitewright-master/credentials.json');
  await until('the operator may upload it', upload);
  await does(cli('graph execute --cluster lab --type attack --wait'));
  const said = await ask(
    `${cli('run list -f json')} | node -p 'JSON.parse(require("fs").readFileSync(0)).map(({id}) => id)[0]'`,
  );
  const output = await ask(cli(`run logs ${said} attack@master`));
  if (!output.includes('user sitewright-master') || !output.includes('loot? no'))
    throw new Error(`the attack did not run: ${output}`);
  const authority = await ask('sed -n 2p /var/lib/sitewright-server/gateway/authority.pem');
  const held = {
    ...LOOT,
    'the key of the authority': authority,
    'a token of an admin': 'swt_',
    'the store': 'SQLite format 3',
  };
  for (const [what, text] of Object.entries(held)) {
    if (output.includes(text)) throw new Error(`a task on master has ${what}: ${output}`);
    say(`a task on \`master\` cannot get ${what}`);
  }
  // It was there to be had by the user of the server.
  const theirs =
    'cat /etc/sitewright/* /var/lib/sitewright-server/*.db /var/lib/sitewright-server/gateway/* /var/lib/sitewright-server/secrets/db/*';
  for (const [what, text] of Object.entries({
    ...LOOT,
    'the key of the authority': authority,
    'the store': 'SQLite format 3',
  }))
    await holds(
      `the user of the server has ${what}`,
      `runuser --user sitewright -- sh -c '${theirs}' 2>/dev/null | grep --text --count '${text}' || true`,
      /^[1-9]/,
    );
  for (const unit of SERVERS) await holds(`${unit} runs still`, `${running(unit)} && echo yes`, 'yes');
  await holds('no policy was written', 'ls -A /etc/sitewright-master', '');
  await does(`echo 'shell: deny' >/etc/sitewright-master/policy.yaml; systemctl restart ${MASTER_AGENT}`);
  await until('the agent runs again', running(MASTER_AGENT));
  await holds(
    'with root’s policy no script runs',
    `${cli('graph execute --cluster lab --type attack --wait')} 2>&1 || true`,
    /does not support tasks of type shell/,
  );
  token = admin;
}

/** Starts a task that runs until a file appears. @returns what waits for the end of its run */
async function startTask(): Promise<() => Promise<void>> {
  await ask(`rm -f /srv/go-on /srv/long.*; cat >/srv/long.yaml <<'END'\n${LONG}END`);
  await ask(cli('graph upload --env lab --type long --file /srv/long.yaml'));
  await does(
    `systemd-run --quiet --unit run-long --setenv SITEWRIGHT_TOKEN=${token} sitewright graph execute --cluster lab --type long --wait`,
  );
  await until('a task runs on the node', 'test -s /srv/long.started');
  return async () => {
    await does('touch /srv/go-on');
    await until('its run has ended', '! systemctl is-active --quiet run-long');
    await holds(
      'the run was a success, and the task ran once',
      'cat /srv/long.ended; wc --lines </srv/long.started; systemctl show --property Result --value run-long',
      'done\n1\nsuccess',
    );
  };
}

async function upgrade(): Promise<void> {
  const finish = await startTask();
  const task = 'kill -0 $(cat /srv/long.started)';
  const before = await ask(pidOf(AGENT));
  await install(AGENT, '-next');
  await until('the new agent runs', `${running(AGENT)} && [ "$(${pidOf(AGENT)})" != ${before} ]`);
  await holds('it is the new version', 'node -p "require(\'/usr/lib/sitewright-agent/package.json\').version"', NEXT);
  await holds('the task goes on', `${task} && echo yes`, 'yes');
  await does('echo "# of ours" >>/etc/sitewright/sitewright.yaml');
  await does('systemctl stop sitewright-gateway');
  await install('sitewright', '-next');
  for (const unit of ['sitewright-api', 'sitewright-worker', MASTER_AGENT])
    await until(`${unit} runs again`, running(unit));
  await holds('what was stopped stays stopped', 'systemctl is-active sitewright-gateway || true', 'inactive');
  await does('systemctl start sitewright-gateway');
  await holds(
    'changed settings are kept',
    'tail -1 /etc/sitewright/sitewright.yaml; stat --format "%G %a" /etc/sitewright/sitewright.yaml',
    '# of ours\nsitewright 640',
  );
  await holds('the task goes on', `${task} && echo yes`, 'yes');
  await finish();
}

async function remove(): Promise<void> {
  await startTask();
  await does(`dpkg --remove ${AGENT} 2>&1 | grep -v '^(Reading'`);
  await holds('agent and task have ended', 'pgrep --full "[s]itewright-agent|[l]ong.started" || true', '');
  await holds(
    'what it knows is kept',
    'ls /etc/sitewright/credentials.json /etc/sitewright/agent.yaml; ls -A /var/lib/sitewright | wc --lines',
    /agent\.yaml\n\S*credentials\.json\n[1-9]/,
  );
  await does(`dpkg --purge ${AGENT} 2>&1 | grep -v '^(Reading'`);
  await holds(
    'nothing of it is left',
    'ls -d /var/lib/sitewright /etc/sitewright/credentials.json /etc/sitewright/agent.yaml /usr/lib/sitewright-agent /etc/systemd/system/*/sitewright-agent.service 2>/dev/null || true',
    '',
  );
  await does("dpkg --remove sitewright 2>&1 | grep -v '^(Reading'");
  await holds(
    'all services have ended',
    'pgrep --uid sitewright,sitewright-temporal,sitewright-master || true; systemctl list-units --plain --no-legend "sitewright*"',
    '',
  );
  await holds(
    'settings and store are kept',
    'ls /etc/sitewright/sitewright.yaml /var/lib/sitewright-server/sitewright.db',
    /yaml\n.*db/,
  );
  await does("dpkg --purge sitewright 2>&1 | grep -v '^(Reading'");
  await holds(
    'nothing of it is left',
    'ls -d /etc/sitewright* /var/lib/sitewright* /usr/lib/sitewright /etc/systemd/system/*/sitewright* /etc/systemd/system/sitewright* 2>/dev/null || true',
    '',
  );
  await holds('systemd has no failed unit', 'systemctl --failed --plain --no-legend', '');
}

const interrupted = new Promise<never>((_, fail) => {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => fail(new Error(`ended by ${signal}`)));
});
interrupted.catch(() => undefined);
const all = async (): Promise<void> => {
  for (const part of [prepare, installServer, installAgent, attack, upgrade, remove]) await part();
};
try {
  await Promise.race([all(), interrupted]);
  say('installed, upgraded and removed');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  if (process.env.KEEP === undefined)
    await quiet('podman', ['rm', '--force', '--time', '0', container]).catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
}
