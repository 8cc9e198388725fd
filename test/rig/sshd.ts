import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { SshTarget } from '../../src/agent/onboarding/ssh-command.ts';
import { freePort } from '../../src/platform/free-port.ts';

const SSHD = '/usr/sbin/sshd';

/** Why there can be no sshd here; undefined if there can. */
export const sshdMissing = (): string | undefined =>
  !existsSync(SSHD) ? 'openssh-server is not installed' : userInfo().uid !== 0 ? 'this is not root' : undefined;

/** A real sshd on loopback with its own keys. */
export class SshdRig {
  readonly folder = mkdtempSync(join(tmpdir(), 'sitewright-ssh-'));
  readonly target: SshTarget;
  readonly #server: ChildProcess;

  private constructor(port: number) {
    for (const name of ['host', 'user', 'stranger'])
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', this.at(name)]);
    writeFileSync(this.at('authorized'), readFileSync(this.at('user.pub')));
    mkdirSync('/run/sshd', { recursive: true });
    const config = [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${this.at('host')}`,
      `AuthorizedKeysFile ${this.at('authorized')}`,
      'UsePAM no',
      'StrictModes no',
      'PasswordAuthentication no',
      'PermitRootLogin prohibit-password',
      'MaxStartups 100',
      `PidFile ${this.at('pid')}`,
    ];
    writeFileSync(this.at('config'), `${config.join('\n')}\n`);
    const [kind, key] = readFileSync(this.at('host.pub'), 'utf8').split(' ');
    writeFileSync(this.at('known'), `[127.0.0.1]:${port} ${kind} ${key}\n`);
    this.target = {
      user: 'root',
      host: '127.0.0.1',
      port,
      identityFile: this.at('user'),
      knownHostsFile: this.at('known'),
    };
    this.#server = spawn(SSHD, ['-D', '-e', '-f', this.at('config')], { stdio: 'ignore' });
  }

  static async open(): Promise<SshdRig> {
    const port = await freePort();
    const rig = new SshdRig(port);
    for (;;) {
      const open = await new Promise<boolean>((resolve) => {
        const socket = createConnection({ host: '127.0.0.1', port }, () => resolve(true)).on('error', () =>
          resolve(false),
        );
        socket.unref();
      });
      if (open) return rig;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  at(name: string): string {
    return join(this.folder, name);
  }

  close(): void {
    this.#server.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
