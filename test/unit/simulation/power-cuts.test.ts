import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random, VirtualTime } from '@sitewright/temporal-simulator';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Journal } from '../../../src/agent/journal/journal.ts';
import type { OpenTransport } from '../../../src/gateway/gateway-connection.ts';
import { GatewayRules } from '../../../src/gateway/gateway-rules.ts';
import { CertificateAuthority } from '../../../src/gateway/identity/certificate-authority.ts';
import { hashOfToken, SigningKeys } from '../../../src/gateway/identity/signing-keys.ts';
import { openStore } from '../../../src/store/index.ts';
import { nodeFiles, ownCredentials } from '../../../worker/parts/own-credentials.ts';
import { answerOf } from '../../simulation/world/gateway-port.ts';
import { Ended, Machine, type Process, processOf } from '../../simulation/world/machine.ts';
import { takeOverSystemCalls } from '../../simulation/world/system-calls.ts';

/** Machines whose power can be cut; programs on them have their system calls. */
function machines(): (seed: string) => Machine & { run(work: (process: Process) => void | Promise<void>): void } {
  const time = new VirtualTime(0);
  onTestFinished(takeOverSystemCalls(() => processOf(time.hosts.getStore())));
  return (seed) => {
    const machine = new Machine('n1', time, new Random(seed), () => undefined);
    return Object.assign(machine, {
      run(work: (process: Process) => void | Promise<void>) {
        machine.start('program', work);
      },
    });
  };
}

/** The program is killed at its n-th change of the disk. */
const killedAt = (machine: Machine, change: number): void => {
  machine.trap = { left: change, spring: (process) => machine.end(process, { signal: 'SIGKILL' }) };
};

const FOLDER = '/var/lib/sitewright/dc1/nodes/n1/runs/r/t/1';
const EXECUTION = { run: 'r', task: 't', node: 'n1', generation: 1, type: 'shell', parameters: { cmd: 'true' } };
const CLAIM = { pid: 7, startTime: '1', bootId: 'b' };

it('keeps a claim through a power cut, wherever an agent before was killed', () => {
  const make = machines();
  const lost: string[] = [];
  for (let change = 0; change < 30; change++)
    for (let seed = 0; seed < 10; seed++) {
      const machine = make(`${change} ${seed}`);
      machine.disk.makeFolder('/var/lib/sitewright', true);
      machine.disk.syncAll();
      const ensure = () => {
        const journal = new Journal(FOLDER);
        journal.create();
        journal.writeExecution(EXECUTION);
        return journal;
      };
      killedAt(machine, change);
      machine.run(() => void ensure());
      machine.trap = undefined;
      machine.run(() => void ensure().claim(CLAIM));
      machine.losePower();
      machine.boot();
      machine.run(() => {
        if (new Journal(FOLDER).readClaim() === undefined) lost.push(`change ${change}, seed ${seed}`);
      });
    }
  expect(lost).toEqual([]);
});

it('enrols a node once, wherever power was cut while it enrolled', async () => {
  const data = mkdtempSync(join(tmpdir(), 'sitewright-enrolment-'));
  onTestFinished(() => rmSync(data, { recursive: true }));
  const store = await openStore('sqlite::memory:');
  onTestFinished(() => store.close());
  const alarms: string[] = [];
  const authority = new CertificateAuthority(data);
  const rules = new GatewayRules({
    ...{ authority, orderKeys: new SigningKeys(data), identities: store.nodeIdentities },
    alarms: async ({ kind }: { readonly kind: string }) => void alarms.push(kind),
    temporal: { address: 'temporal.test:7233', namespace: 'default' },
    queues: () => ({ tasks: 'tasks', control: 'control' }),
    now: () => new Date(),
  } as never);
  const make = machines();
  const inGateway = AsyncLocalStorage.snapshot();
  const open: OpenTransport = () => ({
    send: (path, body) => inGateway(() => answerOf(rules, path, body, undefined)),
    close: async () => undefined,
  });
  const log = { info: () => undefined, warn: () => undefined };
  const refused: string[] = [];
  for (let number = 0; number < 90; number++) {
    const change = 10 + (number % 15);
    const machine = make(`enrolment ${number}`);
    const token = `token ${number}`;
    await store.nodeIdentities.addToken({
      ...{ hash: hashOfToken(token), site: 'dc1', node: `n${number}`, expiresAt: '2999-01-01T00:00:00.000Z' },
    });
    machine.run(() => {
      mkdirSync('/etc/sitewright', { recursive: true });
      const ticket = { gateway: 'https://gateway.test', authority: authority.certificate, token };
      writeFileSync(nodeFiles('/etc/sitewright').ticket, JSON.stringify(ticket), { mode: 0o600 });
    });
    machine.disk.syncAll();
    const enrol = () =>
      new Promise<string>((resolve) => {
        machine.run((process) => {
          process.ended.push(() => resolve('power was cut'));
          return ownCredentials('/etc/sitewright', log, new AbortController().signal, open).then(
            ({ node }) => resolve(node),
            (error: Error) => resolve(error.message),
          );
        });
      });
    machine.trap = { left: change, spring: () => machine.losePower() };
    await enrol();
    machine.losePower();
    machine.boot();
    const node = await enrol();
    if (node !== `n${number}`) refused.push(`${change}: ${node}`);
  }
  expect(refused).toEqual([]);
  expect(alarms).toEqual([]);
});

it('ends nothing with what a process had begun before it was killed', () => {
  machines();
  const heard = vi.fn();
  process.on('unhandledRejection', heard);
  onTestFinished(() => void process.off('unhandledRejection', heard));
  expect(process.emit('unhandledRejection', new Ended(), Promise.resolve())).toBe(true);
  expect(heard).not.toHaveBeenCalled();
});
