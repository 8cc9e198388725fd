import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const bench = fileURLToPath(new URL('../../../bench/', import.meta.url));
const sources = new Map(
  readdirSync(bench)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [name, readFileSync(join(bench, name), 'utf8')]),
);
/** What someone starts: a file that exports nothing. */
const programs = [...sources].flatMap(([name, text]) =>
  /^export /m.test(text) || name === 'bounded.ts' ? [] : [name],
);

it('every bench is bounded before it does anything', () => {
  expect(programs.length).toBeGreaterThan(20);
  const first = (name: string) => /^import .*$/m.exec(sources.get(name)!)?.[0];
  expect(programs.filter((name) => first(name) !== "import './bounded.ts';")).toEqual([]);
});

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sitewright-bounded-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Starts a bench that would run for ever, with a child. @returns what waits for its end, and the process id of the child */
async function start(body: string, limit: string) {
  const file = join(folder, 'bench.ts');
  writeFileSync(
    file,
    `import ${JSON.stringify(join(bench, 'bounded.ts'))};
import { spawn } from 'node:child_process';
const { pid } = spawn('sleep', ['1000']);
console.log(pid);
${body}`,
  );
  const env = { ...process.env, SITEWRIGHT_BENCH_LIMIT: limit };
  const running = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(running, 'exit');
  const [child] = (await once(createInterface(running.stdout), 'line')) as [string];
  return { running, ended, child: Number(child) };
}

/** Whether a process is there and no zombie. */
function lives(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

it.each([
  ['computes', 'for (;;);'],
  ['catches the signal, as the SDK of Temporal does', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1_000);"],
])('a bench that %s ends on SIGTERM, with its children', async (_what, body) => {
  const { running, ended, child } = await start(body, '1h');
  running.kill('SIGTERM');
  await ended;
  await expect.poll(() => lives(child)).toBe(false);
});

it('a bench that stands still ends after its time, with its children', async () => {
  const { ended, child } = await start('setInterval(() => {}, 1_000);', '2s');
  expect(await ended).toEqual([124, null]);
  await expect.poll(() => lives(child)).toBe(false);
});
