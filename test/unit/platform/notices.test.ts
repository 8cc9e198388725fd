import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NoticeBody } from '../../../src/core/contracts/notices.ts';
import { noticeText } from '../../../src/core/run/notice-words.ts';
import { addReceiver, addressOf, type Receiver, readReceivers } from '../../../src/platform/notices/receivers.ts';
import { sendNotice } from '../../../src/platform/notices/send.ts';
import { type NoticeReceiver, noticeReceiver } from '../../rig/notice-receiver.ts';

const folder = mkdtempSync(join(tmpdir(), 'sitewright-notices-'));
afterAll(() => rmSync(folder, { recursive: true }));

const read = (text: string) => {
  const file = join(folder, 'notices.yaml');
  writeFileSync(file, text, { mode: 0o600 });
  return readReceivers(file);
};

describe('a file of receivers', () => {
  it('has a URL for each, by default for all events, as JSON', async () => {
    const [chat] = await read('receivers: [{ name: chat, url: "https://x.example/hooks/T0/s3cret" }]');
    expect(chat).toEqual({
      name: 'chat',
      url: 'https://x.example/hooks/T0/s3cret',
      events: ['failed', 'held', 'awaiting_approval', 'stuck'],
      format: 'json',
    });
    expect(addressOf(chat!)).toBe('https://x.example');
  });

  it('is refused with all its problems, without secrets', async () => {
    const wrong = read(
      'receivers:\n  - { name: a, url: "ftp://u:hunter2@x/", secret: hunter2 }\n  - { name: a, url: "http://x", event: [failed] }\n',
    );
    await expect(wrong).rejects.toThrow(/url must be a URL .*secret .*event/s);
    await expect(wrong).rejects.not.toThrow(/hunter2/);
    await expect(read('receivers: [{ name: a, url: "http://x" }, { name: a, url: "http://y" }]')).rejects.toThrow(
      /names a twice/,
    );
    await expect(read('receivers: [')).rejects.toThrow(/notices.receivers_file: line 1/);
    await expect(readReceivers(join(folder, 'absent'))).rejects.toThrow(/cannot be read \(ENOENT\)/);
  });
});

describe('a receiver that is added', () => {
  const added: Receiver = {
    name: 'new',
    url: 'http://x/y',
    secret: 'sixteen letters!',
    events: ['held'],
    format: 'json',
  };
  const file = join(folder, 'notices.yaml');
  const addedTo = async (text: string) => {
    writeFileSync(file, text, { mode: 0o600 });
    await addReceiver(file, added);
    return readFileSync(file, 'utf8');
  };

  it.each([
    [
      'a list with comments',
      '# of the team\nreceivers:\n  - name: a   # pager\n    url: http://a\n    events:\n      - failed\n',
    ],
    ['a list that is not indented', 'receivers:\n- { name: a, url: "http://a" }'],
    ['JSON', '{"receivers": [{"name": "a", "url": "http://a"}]}'],
  ])('comes last in %s', async (_what, text) => {
    const now = await addedTo(text);
    expect(now.match(/#.*/g)).toEqual(text.match(/#.*/g));
    expect((await readReceivers(file)).map(({ name }) => name)).toEqual(['a', 'new']);
    expect((await readReceivers(file))[1]).toEqual(added);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is the first of an empty list, behind a link, too', async () => {
    writeFileSync(join(folder, 'real.yaml'), '# none yet\nreceivers: []\n');
    symlinkSync('real.yaml', join(folder, 'linked.yaml'));
    await addReceiver(join(folder, 'linked.yaml'), added);
    expect(readFileSync(join(folder, 'real.yaml'), 'utf8')).toMatch(/^# none yet\n/);
    expect(await readReceivers(join(folder, 'linked.yaml'))).toEqual([added]);
  });

  it('changes nothing where it cannot be added', async () => {
    for (const text of [
      'receivers: [{ name: a, url: "http://a" }]',
      'receivers:\n  - { name: new, url: "http://a" }\n',
      '[]',
    ]) {
      await expect(addedTo(text), text).rejects.toThrow(/notices.receivers_file/);
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
    await expect(addReceiver(join(folder, 'absent'), added)).rejects.toThrow(/ENOENT/);
  });
});

describe('a notice', () => {
  let receiver: NoticeReceiver;
  beforeEach(async () => {
    receiver = await noticeReceiver();
  });
  afterEach(() => receiver.close().catch(() => undefined));

  const run = { id: 'r1', workflow_id: 'deploy_site:dc1', kind: 'deploy_site', site: 'dc1', cluster: null };
  const notice = {
    id: 'n1',
    event: 'failed',
    at: '2026-11-22T10:00:00.000Z',
    run: { ...run, url: 'https://page.example/runs/r1' },
    reason: 'critical group failed',
    next_step: 'repair it',
  } as const;
  const body: NoticeBody = { ...notice, text: noticeText(notice) };
  const to = (change: Partial<Receiver> = {}): Receiver => ({
    name: 'pager',
    url: receiver.url,
    events: ['failed'],
    format: 'json',
    ...change,
  });

  it('has one short sentence', () => {
    expect(body.text).toBe(
      'deploy_site of dc1 failed: critical group failed. Next: repair it https://page.example/runs/r1',
    );
    const awaiting_approval = [{ before: 'compute', since: notice.at }];
    expect(
      noticeText({ event: 'awaiting_approval', at: notice.at, run: { ...run, title: 'Rack 7' }, awaiting_approval }),
    ).toBe('deploy_site of dc1 (Rack 7) is waiting for approval before compute');
    expect(noticeText({ event: 'held', at: notice.at, run: { ...run, site: null, cluster: 4 } })).toBe(
      'deploy_site of cluster 4 is held: it waits for a person',
    );
  });

  it('is signed over its delivery, its time and its body, and each attempt is a delivery of its own', async () => {
    const secret = 'a secret of the pager';
    expect(await sendNotice(to({ secret }), body, 3)).toEqual({ delivered: true, status: 204, message: null });
    const [{ headers, text }] = receiver.received as [NoticeReceiver['received'][number]];
    expect(JSON.parse(text)).toEqual(body);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'sitewright-event': 'failed',
      'sitewright-notice': 'n1',
      'sitewright-attempt': '3',
      'sitewright-delivery': 'n1/3',
    });
    const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['sitewright-signature'])) ?? [];
    expect(signature).toBe(createHmac('sha256', secret).update(`n1/3.${time}.${text}`).digest('hex'));
    expect(Math.abs(Date.now() / 1000 - Number(time))).toBeLessThan(60);
  });

  it('is unsigned without a secret, and only text for chats', async () => {
    await sendNotice(to({ format: 'text' }), body, 1);
    expect(receiver.received[0]!.headers).not.toHaveProperty('sitewright-signature');
    expect(JSON.parse(receiver.received[0]!.text)).toEqual({ text: body.text });
  });

  it('counts as undelivered on errors, redirects and without a receiver, with a reason without address', async () => {
    receiver.answers.push(500, 302);
    expect(await sendNotice(to(), body, 1)).toEqual({ delivered: false, status: 500, message: 'it answered 500' });
    expect(await sendNotice(to(), body, 2)).toMatchObject({
      delivered: false,
      status: 302,
      message: 'it answered 302: redirects are not followed',
    });
    await receiver.close();
    expect(await sendNotice(to(), body, 3)).toEqual({
      delivered: false,
      status: null,
      message: expect.stringMatching(/^it cannot be reached \((ECONNREFUSED|ECONNRESET|UND_ERR_SOCKET)\)$/),
    });
  });
});
