import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { carryOutOrder } from '../../../src/agent/index.ts';
import { executionFolder } from '../../../src/agent/journal/execution.ts';
import { Journal } from '../../../src/agent/journal/journal.ts';
import { readOutput, SegmentedOutput } from '../../../src/agent/output/output-segments.ts';
import { readableTail, readableText } from '../../../src/agent/output/output-text.ts';
import { REDACTED, Scrubber } from '../../../src/agent/output/scrubber.ts';
import { TaskLogs } from '../../../src/agent/output/task-logs.ts';
import { AgentRig, contentsBelow, printed } from '../../rig/agent.ts';
import { AgentProcess } from '../../rig/agent-process-handle.ts';
import { Gate } from '../../rig/gate.ts';

const rig = new AgentRig();
const agent = rig.agent();
afterAll(() => rig.tidy());

const linux = describe.skipIf(process.platform !== 'linux');

/** Everything a reader gets, with its offsets; gaps as their length. */
function readAll(folder: string, from = 0) {
  const pieces: { at: number; text: string }[] = [];
  let [gaps, offset] = [0, from];
  for (let part = readOutput(folder, 'stdout', offset); part.kind !== 'none'; ) {
    if (part.kind === 'data') pieces.push({ at: offset, text: part.bytes.toString('latin1') });
    else gaps += part.to - part.offset;
    offset = part.kind === 'data' ? offset + part.bytes.length : part.to;
    part = readOutput(folder, 'stdout', offset);
  }
  return { pieces, text: pieces.map(({ text }) => text).join(''), gaps, end: offset };
}

describe('output files', () => {
  it('keep the start and the end within the limit, and count every byte', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 20 }),
        fc.integer({ min: 0, max: 200 }),
        (sizes, limit) => {
          const folder = mkdtempSync(join(rig.folder, 'output-'));
          const output = new SegmentedOutput(folder, 'stdout', limit);
          let all = '';
          for (const size of sizes) {
            const chunk = Array.from({ length: size }, (_, at) =>
              String.fromCharCode(97 + ((all.length + at) % 26)),
            ).join('');
            output.write(Buffer.from(chunk));
            all += chunk;
          }
          const record = output.end();
          const { pieces, gaps } = readAll(folder);
          const kept = pieces.reduce((sum, { text }) => sum + text.length, 0);
          expect(record).toMatchObject({ bytes: all.length, dropped: gaps });
          expect(kept + gaps).toBe(all.length);
          expect(kept).toBeLessThanOrEqual(Math.max(4, limit));
          for (const { at, text } of pieces) expect(text).toBe(all.slice(at, at + text.length));
          if (all.length > 0) {
            expect(pieces[0]!.at).toBe(0);
            expect(pieces.at(-1)!.at + pieces.at(-1)!.text.length).toBe(all.length);
          }
          rmSync(folder, { recursive: true });
        },
      ),
      { numRuns: 60 },
    );
  });

  it('can be read from any offset', () => {
    const folder = mkdtempSync(join(rig.folder, 'output-'));
    const output = new SegmentedOutput(folder, 'stdout', 40);
    output.write(Buffer.from('abcdefghijklmnopqrstuvwxyz'.repeat(3)));
    expect(output.end()).toMatchObject({ bytes: 78, dropped: 40 });
    expect(readAll(folder, 0)).toMatchObject({ text: 'abcdefghijyzabcdefghijklmnopqrstuvwxyz', gaps: 40, end: 78 });
    expect(readAll(folder, 5)).toMatchObject({ text: 'fghijyzabcdefghijklmnopqrstuvwxyz', gaps: 40, end: 78 });
    expect(readAll(folder, 60)).toMatchObject({ text: 'ijklmnopqrstuvwxyz', gaps: 0, end: 78 });
    expect(readAll(folder, 78)).toMatchObject({ text: '', gaps: 0, end: 78 });
  });

  it('are recognised as text or binary, wherever a character is cut', () => {
    const record = (...chunks: Buffer[]) => {
      const folder = mkdtempSync(join(rig.folder, 'output-'));
      const output = new SegmentedOutput(folder, 'stdout');
      for (const chunk of chunks) output.write(chunk);
      return output.end().binary;
    };
    const text = Buffer.from('Grüße, 世界, 🛰');
    for (let cut = 0; cut <= text.length; cut += 1) {
      expect(record(text.subarray(0, cut), text.subarray(cut))).toBe(false);
    }
    expect(record(...[...text].map((byte) => Buffer.from([byte])))).toBe(false);
    expect(record(text.subarray(0, text.length - 1))).toBe(true);
    expect(record(Buffer.from([0xff]))).toBe(true);
    expect(record(Buffer.from('a\0b'))).toBe(true);
    expect(record(Buffer.from([0xe4]), Buffer.from('bc'))).toBe(true);
  });

  it('#10 are shown as text without control characters, escape sequences and broken characters', () => {
    expect(readableText(Buffer.from('\x1b[31mred\x1b[0m\x1b]0;title\x07 a\0b\tc\r\n'))).toBe('red a\uFFFDb\tc\r\n');
    expect(readableTail(Buffer.from('ü!').subarray(1))).toBe('!');
    expect(readableTail(Buffer.from(`${'🛰'.repeat(2500)}`)).length).toBeLessThanOrEqual(4000);
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = readableTail(bytes);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
        expect(text).not.toMatch(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/);
        expect(JSON.parse(JSON.stringify(text))).toBe(text);
      }),
    );
  });
});

describe('#18 the scrubber', () => {
  it('finds secrets however the stream is cut into chunks, and changes nothing else', () => {
    const words = fc.constantFrom('abcd', 'abcdabcdX', 'dabc', ' ', 'a', 'bc', 'key: ', 'abcdabcd', '\n');
    fc.assert(
      fc.property(
        fc.array(words, { maxLength: 12 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 5 })),
        (parts, cuts) => {
          const secrets = ['abcd', 'abcdabcdX', 'key: abcd'];
          const text = Buffer.from(parts.join(''));
          const scrub = (sizes: Iterable<number>) => {
            const scrubber = new Scrubber(secrets);
            const passed: Buffer[] = [];
            let at = 0;
            for (const size of sizes) {
              if (at >= text.length) break;
              passed.push(scrubber.push(text.subarray(at, at + size)));
              at += size;
            }
            return Buffer.concat([...passed, scrubber.flush()]).toString();
          };
          const whole = scrub([Number.MAX_SAFE_INTEGER]);
          expect(scrub(cuts)).toBe(whole);
          for (const secret of secrets) expect(whole).not.toContain(secret);
          if (!parts.join('').includes('abcd')) expect(whole).toBe(parts.join(''));
        },
      ),
    );
  });

  it('finds the lines of a key one by one', () => {
    const key = '-----BEGIN KEY-----\nMIIEowIBAAKCAQEA1\nshort\n-----END KEY-----\n';
    const scrubber = new Scrubber([key]);
    const passed = scrubber.push(Buffer.from('  MIIEowIBAAKCAQEA1\n')).toString() + scrubber.flush();
    expect(passed).toBe(`  ${REDACTED}\n`);
  });
});

linux('output of a task', () => {
  it('#9 a gigabyte of output keeps agent and supervisor small, is counted exactly, and its start and end are kept', {
    timeout: 120_000,
  }, async () => {
    const gate = new Gate(rig.path('flood'));
    const bytes = 1024 ** 3;
    const cmd = `echo start; head -c ${bytes} /dev/zero; echo; echo end; read -r line < ${gate.path}`;
    const task = rig.task('shell', { cmd, timeout: 110, retries: 0 });
    const follower = new AgentProcess(rig, task);
    await follower.said(
      ({ kind, offset, bytes: length }) => kind === 'output' && Number(offset) + Number(length) === bytes + 11,
    );
    const { pid } = new Journal(executionFolder(rig.stateDir, task)).readClaim()!;
    const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1];
    await gate.open();
    const { result } = (await follower.said(({ kind }) => kind === 'ended')) as never as {
      result: { output: { stdout: object } };
    };
    const total = bytes + 'start\n\nend\n'.length;
    expect(result.output.stdout).toMatchObject({ bytes: total, binary: true });
    expect(JSON.stringify(result).length).toBeLessThan(64 * 1024);
    const [first, kept] = [follower.lines.find(({ kind }) => kind === 'output')!, await printed(agent, task)];
    expect(kept.subarray(0, 6).toString()).toBe('start\n');
    expect(kept.subarray(-5).toString()).toBe('\nend\n');
    expect(kept.length).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect(result.output.stdout).toMatchObject({ dropped: total - kept.length });
    const grown =
      Math.max(...follower.lines.flatMap(({ rss }) => (typeof rss === 'number' ? [rss] : []))) - Number(first.rss);
    expect(grown).toBeLessThan(50 * 1024 ** 2);
    expect(Number(peak)).toBeLessThan(200 * 1024);
  });

  it('#10 output that is binary or broken UTF-8 becomes valid JSON, marked as such; the bytes are kept', async () => {
    const task = rig.task('shell', { cmd: `printf 'a\\377\\000\\033[1mb'; printf '\\303' >&2` });
    const result = await rig.run(agent, task);
    expect(result.output.stdout).toEqual({ bytes: 8, dropped: 0, binary: true, tail: 'a\uFFFD\uFFFDb' });
    expect(result.output.stderr).toMatchObject({ bytes: 1, binary: true });
    expect(await printed(agent, task)).toEqual(Buffer.from('a\xff\0\x1b[1mb', 'latin1'));
  });

  it('#10 random output stays under 64 KiB of valid JSON, and no byte is lost', async () => {
    const file = rig.path('random');
    const cmd = `head -c 1000000 /dev/urandom | tee ${file}; cat ${file} >&2; printf '\\033[31mred\\000'`;
    const task = rig.task('shell', { cmd, retries: 0 });
    const result = await rig.run(agent, task);
    expect(result.output).toMatchObject({ stdout: { bytes: 1_000_009, binary: true }, stderr: { binary: true } });
    const json = JSON.stringify(result);
    expect(json.length).toBeLessThan(64 * 1024);
    expect(Buffer.from(json).toString()).toBe(json);
    expect(JSON.parse(json)).toEqual(result);
    expect(result.output.stdout.tail.endsWith('red\uFFFD')).toBe(true);
    expect((await printed(agent, task, 'stderr')).equals(readFileSync(file))).toBe(true);
  });

  it('#18 output has no secret, and neither do journal, arguments and result', async () => {
    const canaries = {
      'sec:env': 'canary-in-environment-7741',
      'sec:file': 'canary-in-file-8812',
      'sec:data': 'canary-in-data-9913',
    };
    const asked: string[] = [];
    const scratchRoot = rig.path('scratch');
    mkdirSync(scratchRoot);
    const trusted = rig.agent({
      scratchRoot,
      resolveSecret: async (ref, key) => {
        asked.push(`${ref} ${key.task}`);
        return canaries[ref as keyof typeof canaries];
      },
    });
    const gate = new Gate(rig.path('secret-gate'));
    const target = rig.path('secret-target');
    const shell = rig.task(
      'shell',
      {
        cmd: `echo "$PASSWORD"; cat "$SITEWRIGHT_SECRETS/key"; for c in ca nary-in-; do printf %s $c; done; echo environment-7741
              stat -c %a "$SITEWRIGHT_SECRETS/key"; read -r line < ${gate.path}; exit 3`,
        retries: 0,
      },
      {
        secrets: [
          { name: 'PASSWORD', ref: 'sec:env', as: 'environment' },
          { name: 'key', ref: 'sec:file', as: 'file' },
        ],
      },
    );
    const seen: Buffer[] = [];
    await trusted.ensure(shell);
    for await (const event of trusted.follow(shell)) {
      if (event.kind !== 'output') continue;
      seen.push(Buffer.from(event.bytes));
      if (!Buffer.concat(seen).includes('600\n')) continue;
      seen.push(execFileSync('ps', ['-eo', 'args', 'ww']));
      for (const bytes of contentsBelow(rig.stateDir).values()) seen.push(bytes);
      await gate.open();
    }
    const upload = rig.task('upload_file', { path: target, data: { secret: 'sec:data' } });
    expect(await rig.run(trusted, upload)).toMatchObject({ outcome: 'success', changed: true });
    expect(readFileSync(target, 'utf8')).toBe(canaries['sec:data']);
    const result = await trusted.result(shell);
    expect(result).toMatchObject({
      exitCode: 3,
      output: { stdout: { tail: `${REDACTED}\n${REDACTED}${REDACTED}\n600\n` } },
    });
    for (const bytes of contentsBelow(rig.stateDir).values()) seen.push(bytes);
    expect(Buffer.concat(seen).toString('latin1')).not.toMatch(/canary-in-/);
    expect(asked.sort()).toEqual([`sec:data ${upload.task}`, `sec:env ${shell.task}`, `sec:file ${shell.task}`]);
    expect(readdirSync(scratchRoot)).toEqual([]);
  });

  it('#18 a copied key is in no journal, and a killed supervisor leaves no secret file', async () => {
    const scratchRoot = rig.path('scratch-of-killed');
    mkdirSync(scratchRoot);
    const trusted = rig.agent({ scratchRoot, resolveSecret: async () => 'canary-of-the-killed' });
    writeFileSync(rig.path('key.pem'), 'canary-in-key-file');
    const files = [{ src: rig.path('key.pem'), dst: rig.path('key.copy'), permissions: '0600' }];
    expect(await rig.run(trusted, rig.task('copy_files', { files }))).toMatchObject({
      outcome: 'success',
      changed: true,
    });
    const gate = new Gate(rig.path('killed-gate'));
    const secrets = [{ name: 'key', ref: 'k', as: 'file' }] as const;
    const task = rig.task('shell', { cmd: `echo here; read -r line < ${gate.path}` }, { secrets });
    await trusted.ensure(task);
    for await (const event of trusted.follow(task)) {
      if (event.kind !== 'output') continue;
      expect([...contentsBelow(scratchRoot).values()].map(String)).toEqual(['canary-of-the-killed']);
      process.kill(new Journal(executionFolder(rig.stateDir, task)).readClaim()!.pid, 'SIGKILL');
    }
    expect(await trusted.result(task)).toMatchObject({ outcome: 'failed', failure: { kind: 'interrupted' } });
    expect(readdirSync(scratchRoot)).toEqual([]);
    for (const bytes of contentsBelow(rig.stateDir).values())
      expect(bytes.toString('latin1')).not.toMatch(/canary-(of|in)-/);
  });

  it('#18 a secret that equals one of our own words removes nothing from the record', async () => {
    const secrets = [{ name: 'WORD', ref: 'w', as: 'environment' }] as const;
    for (const word of ['failed', 'exit', 'kind', 'stdout', 'number', '2026']) {
      const task = rig.task('shell', { cmd: 'echo "<$WORD>"; exit 4', retries: 0 }, { secrets });
      expect(await rig.run(rig.agent({ resolveSecret: async () => word }), task)).toMatchObject({
        outcome: 'failed',
        failure: { kind: 'exit', exitCode: 4 },
        tries: [{ number: 1, outcome: 'failed' }],
        output: { stdout: { tail: `<${REDACTED}>\n` } },
      });
    }
  });

  it('#18 an execution whose secret is unavailable starts once it is available', async () => {
    const task = rig.task(
      'shell',
      { cmd: 'echo "$WORD"' },
      { secrets: [{ name: 'WORD', ref: 'x', as: 'environment' }] },
    );
    await expect(agent.ensure(task)).rejects.toThrow('no source of secrets');
    expect(await rig.run(rig.agent({ resolveSecret: async () => 'word-of-power' }), task)).toMatchObject({
      outcome: 'success',
      output: { stdout: { tail: `${REDACTED}\n` } },
    });
  });
});

const mayMount = process.platform === 'linux' && process.getuid?.() === 0 && canMount();
function canMount(): boolean {
  const place = rig.path('mount-probe');
  mkdirSync(place);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'sitewright-test', place]).status !== 0) return false;
  return spawnSync('umount', [place]).status === 0;
}

describe.skipIf(!mayMount)('#8 a full disk (needs root and mount)', () => {
  function smallDisk(name: string, size: string): { path: string; gone: () => void } {
    const path = rig.path(name);
    mkdirSync(path);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'sitewright-test', path]);
    return { path, gone: () => execFileSync('umount', ['--lazy', path]) };
  }

  it('under the journal loses output, counted, and neither the task nor its result', async () => {
    const disk = smallDisk('journal-disk', '2m');
    try {
      const small = rig.agent({ stateDir: disk.path, minFreeBytes: 0 });
      const task = rig.task('shell', { cmd: `echo first; head -c 8000000 /dev/zero; echo last; exit 5`, retries: 0 });
      const result = await rig.run(small, task);
      expect(result).toMatchObject({ outcome: 'failed', exitCode: 5, output: { stdout: { bytes: 8000011 } } });
      expect(result.output.stdout.tail).toMatch(/last\n$/);
      expect(result.output.stdout.dropped).toBeGreaterThan(6_000_000);
      expect(result.output.stdout.dropped).toBe(8000011 - (await printed(small, task)).length);
    } finally {
      disk.gone();
    }
  });

  it('under the log store keeps the output on the node, reports it, and stops neither task nor agent', async () => {
    const disk = smallDisk('log-disk', '1m');
    try {
      const logs = new TaskLogs({ folder: disk.path });
      const carry = async (cmd: string) => {
        const execution = rig.task('shell', { cmd, retries: 0 });
        const { run, task, node, generation, type } = execution;
        const end = await carryOutOrder(
          { run, task, node, generation, type, mode: 'apply', plan: 'p' },
          {
            agent,
            orders: {
              fetch: async () => ({ execution }),
              ship: async (wanted, chunk) => logs.append(wanted, chunk),
              secret: async () => '',
              source: async () => Buffer.alloc(0),
            },
            onProgress: () => undefined,
            cancel: new AbortController().signal,
            leave: new AbortController().signal,
            logPatienceMs: 0,
          },
        );
        return { execution, end };
      };
      const flood = await carry('head -c 4000000 /dev/zero | tr "\\0" x');
      expect(flood.end).toMatchObject({
        kind: 'ended',
        result: { outcome: 'success', output: { stdout: { bytes: 4_000_000, dropped: 0 } } },
        unshipped: expect.stringMatching(/ENOSPC|no space/i),
      });
      expect((await printed(agent, flood.execution)).length).toBe(4_000_000);
      expect((await carry('echo still here')).end).toMatchObject({ kind: 'ended', result: { outcome: 'success' } });
    } finally {
      disk.gone();
    }
  });

  it('is reported before a task is accepted', async () => {
    const disk = smallDisk('refusing-disk', '1m');
    try {
      const careful = rig.agent({ stateDir: disk.path });
      const limit = { of: 'reserve', free: expect.any(Number), needed: 64 * 1024 * 1024 };
      const answer = await careful.ensure(rig.task('shell', { cmd: 'true' }));
      expect(answer).toEqual({ kind: 'refused', failure: { kind: 'no-space', path: disk.path, limit } });
      expect(contentsBelow(disk.path).size).toBe(0);
    } finally {
      disk.gone();
    }
  });

  it('of inodes is distinguished from one of bytes', async () => {
    const disk = smallDisk('files-disk', '8m,nr_inodes=2');
    try {
      const path = join(disk.path, 'file');
      writeFileSync(join(disk.path, 'last'), '');
      const result = await rig.run(agent, rig.task('upload_file', { path, data: 'new', retries: 0 }));
      expect(result).toMatchObject({ outcome: 'failed', failure: { kind: 'no-space', limit: { of: 'files' } } });
    } finally {
      disk.gone();
    }
  });

  it('under an upload leaves the old file and nothing else', async () => {
    const disk = smallDisk('target-disk', '1m');
    try {
      const path = join(disk.path, 'file');
      expect(await rig.run(agent, rig.task('upload_file', { path, data: 'old' }))).toMatchObject({
        outcome: 'success',
      });
      const big = rig.task('upload_file', { path, data: 'x'.repeat(2_000_000), retries: 1 });
      expect(await rig.run(agent, big)).toMatchObject({
        outcome: 'failed',
        failure: { kind: 'no-space', path, limit: { of: 'disk' } },
        tries: [{ number: 1 }, { number: 2 }],
      });
      expect([...contentsBelow(disk.path)]).toEqual([[path, Buffer.from('old')]]);
    } finally {
      disk.gone();
    }
  });
});
