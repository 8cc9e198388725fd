import { prefixed, WORKFLOWS } from '../../workflows/protocol.ts';
import type { NoticeDelivery, NoticeReceiver } from '../core/contracts/notices.ts';
import { unknownName } from '../core/text/did-you-mean.ts';
import { addReceiver, addressOf, type Receiver, ReceiversError, readReceivers } from '../platform/notices/receivers.ts';
import { problem } from './problem.ts';
import { Service } from './service.ts';
import { temporalAddress } from './temporal-address.ts';
import { callTemporal } from './temporal-calls.ts';
import { appendAudit } from './without-store.ts';
import { startWorkflow } from './workflow-calls.ts';

/** Longer than a receiver may take. */
const TEST_LIMIT_MS = 20_000;

export class NoticeOperations extends Service {
  /** Several at once are added one after the other. */
  #adding: Promise<unknown> = Promise.resolve();

  async receivers(): Promise<readonly NoticeReceiver[]> {
    const all = await this.#read();
    return await Promise.all(all.map((receiver) => this.#shown(receiver)));
  }
  /** @throws `conflict` where the name is taken, `refused` where there is no file, or none that can be written */
  async add(receiver: Receiver, by: string): Promise<NoticeReceiver> {
    const { name, events } = receiver;
    const added = this.#adding.then(() => this.#write(receiver));
    this.#adding = added.catch(() => undefined);
    await added;
    const details = { address: addressOf(receiver), events };
    await appendAudit(this.store, { actor: by, action: 'notice.create', target: `receiver/${name}`, details });
    return this.#shown(receiver);
  }
  /** Newest first. */
  async deliveries(): Promise<readonly NoticeDelivery[]> {
    return (await this.store.notices.list()).map((one) => this.#inTemporal(one));
  }
  /** Sends a test notice, once, as a worker sends all notices. @throws `not-found` */
  async test(receiver: string, by: string): Promise<NoticeDelivery> {
    const names = (await this.#read()).map(({ name }) => name);
    if (!names.includes(receiver)) {
      const hint =
        this.deps.noticeReceivers === undefined
          ? 'Set notices.receivers_file (docs/how-to/monitor.md).'
          : 'See the names: sitewright notice list';
      throw problem('not-found', unknownName('receiver', receiver, names), { hint });
    }
    await appendAudit(this.store, { actor: by, action: 'notice.test', target: `receiver/${receiver}` });
    const notice = { event: 'test', run: null } as const;
    const id = prefixed(this.temporal.prefix, `${WORKFLOWS.send_notice}:test:${receiver}:${Date.now()}`);
    const send = async () => {
      const handle = await startWorkflow(this.temporal.client.workflow, 'send_notice', {
        taskQueue: this.temporal.taskQueue,
        workflowId: id,
        input: { notice, only: receiver },
      });
      return { result: await handle.result(), run: handle.firstExecutionRunId };
    };
    const sent = await callTemporal(this.temporal, send, TEST_LIMIT_MS);
    const recorded = (await this.store.notices.list(receiver)).find((one) => one.notice === sent.run);
    const answer = sent.result[receiver];
    return this.#inTemporal(
      recorded ?? {
        id,
        notice: sent.run,
        receiver,
        event: 'test' as const,
        run: null,
        at: new Date().toISOString(),
        attempt: 1,
        delivered: false,
        status: null,
        message: 'the worker does not know it: its notices.receivers_file differs',
        ...answer,
      },
    );
  }

  async #shown(receiver: Receiver): Promise<NoticeReceiver> {
    const { name, events, sites, format, secret } = receiver;
    const [last] = await this.store.notices.list(name);
    return {
      ...{ name, address: addressOf(receiver), events, sites: sites ?? null, format },
      ...{ signed: secret !== undefined, last: last === undefined ? null : this.#inTemporal(last) },
    };
  }
  /** With what sends the notices of its run; a test has the id of its own. */
  #inTemporal(delivery: Omit<NoticeDelivery, 'temporal_url'>): NoticeDelivery {
    const { run, notice } = delivery;
    const senders = prefixed(this.temporal.prefix, `${WORKFLOWS.send_notice}:${run}:`);
    const query = run === null ? `RunId="${notice}"` : `WorkflowId STARTS_WITH "${senders}"`;
    const all = temporalAddress(this.deps, 'workflows');
    return { ...delivery, temporal_url: all && `${all}?${new URLSearchParams({ query })}` };
  }
  async #write(receiver: Receiver): Promise<void> {
    const file = this.deps.noticeReceivers;
    if (file === undefined)
      throw problem('refused', 'no file of receivers is set', {
        hint: 'Set notices.receivers_file of API and worker (docs/how-to/monitor.md).',
      });
    if ((await this.#read()).some(({ name }) => name === receiver.name))
      throw problem('conflict', `there is a receiver ${receiver.name} already`, { hint: 'Choose another name.' });
    await addReceiver(file, receiver).catch((error: unknown) => {
      if (!(error instanceof ReceiversError)) throw error;
      throw problem('refused', error.message, { hint: 'The file has a list, receivers, of such entries.' });
    });
  }
  async #read(): Promise<readonly Receiver[]> {
    if (this.deps.noticeReceivers === undefined) return [];
    return await readReceivers(this.deps.noticeReceivers).catch((error: unknown) => {
      if (!(error instanceof ReceiversError)) throw error;
      throw problem('invalid', error.message, { hint: 'Correct the file; a change needs no restart.' });
    });
  }
}
