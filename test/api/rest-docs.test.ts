import { readFileSync } from 'node:fs';
import { MachineStatus } from '@sitewright/maas';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { routesReference } from '../../scripts/reference/rest.ts';
import { PROBLEM_CODES } from '../../src/ops/index.ts';
import { type LivingSite, livingSite } from '../rig/living-site.ts';
import { lookAgain } from '../rig/look-again.ts';
import { onServer, type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { type Answer, type ApiRig, apiOfSite, type Method } from './api-rig.ts';

const text = readFileSync(new URL('../../docs/reference/rest.md', import.meta.url), 'utf8');

interface Example {
  readonly method: Method;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  readonly status: number;
  readonly answerHeaders: Record<string, string>;
  readonly answer: unknown;
}

/** Pairs of `http` blocks: a request, then its answer. */
function readExamples(): Example[] {
  const blocks = [...text.matchAll(/^```http\n([\s\S]*?)^```$/gm)].map((match) => match[1]!);
  expect(blocks.length % 2).toBe(0);
  return Array.from({ length: blocks.length / 2 }, (_, index) => {
    const request = readBlock(blocks[index * 2]!);
    const answer = readBlock(blocks[index * 2 + 1]!);
    const [method, path] = request.first.split(' ') as [Method, string];
    expect(answer.first).toMatch(/^\d{3}$/);
    return {
      method,
      path,
      headers: request.headers,
      body: request.body,
      status: Number(answer.first),
      answerHeaders: answer.headers,
      answer: JSON.parse(answer.body ?? 'null'),
    };
  });
}

function readBlock(block: string): { first: string; headers: Record<string, string>; body: string | undefined } {
  const [head = '', ...rest] = block.split('\n\n');
  const [first = '', ...headerLines] = head.trimEnd().split('\n');
  const headers = headerLines.map((line) => {
    const [name = '', value = ''] = line.split(/: (.*)/);
    return [name.toLowerCase(), value] as const;
  });
  const body = rest.join('\n\n');
  return { first, headers: Object.fromEntries(headers), body: body === '' ? undefined : body };
}

/** Where the answer differs from the documentation; `…` matches anything. Null if it does not. */
function difference(wanted: unknown, found: unknown, at = ''): string | null {
  if (wanted === '…') return null;
  if (Array.isArray(wanted)) {
    if (!Array.isArray(found)) return `${at} is not a list`;
    const open = wanted.at(-1) === '…';
    const items = open ? wanted.slice(0, -1) : wanted;
    if (open ? found.length < items.length : found.length !== items.length) return `${at} has ${found.length} items`;
    return first(items.map((item, index) => difference(item, found[index], `${at}[${index}]`)));
  }
  if (typeof wanted === 'object' && wanted !== null) {
    if (typeof found !== 'object' || found === null) return `${at} is not an object`;
    const { '…': open, ...fields } = wanted as Record<string, unknown>;
    const strangers = Object.keys(found).filter((key) => !Object.hasOwn(fields, key));
    if (open === undefined && strangers.length > 0) return `${at} also has ${strangers.join(', ')}`;
    return first(
      Object.entries(fields).map(([key, value]) =>
        difference(value, (found as Record<string, unknown>)[key], `${at}.${key}`),
      ),
    );
  }
  return Object.is(wanted, found) ? null : `${at} is ${JSON.stringify(found)}`;
}

const first = (differences: readonly (string | null)[]) => differences.find((one) => one !== null) ?? null;

let rig: TemporalRig;
let site: LivingSite;
let api: ApiRig;
beforeAll(async () => {
  rig = await temporalRig({ namespace: 'own' });
  const machines = ['node01', 'node02'].map((hostname) => ({
    hostname,
    status: MachineStatus.New,
    power_type: 'ipmi',
  }));
  site = await livingSite(rig, { seed: { machines }, auto: { deploy_ms: 3_600_000 } });
  api = await apiOfSite(rig, site);
});
afterAll(async () => {
  await api.close();
  await site.close();
  await rig.close();
});

onServer('every example of docs/reference/rest.md gets the documented answer', async ({ onTestFailed }) => {
  let waitedFor: string | null = null;
  onTestFailed(() => console.error(`waited for ${waitedFor}`));
  const examples = readExamples();
  expect(examples.length).toBeGreaterThan(15);
  let run = 'RUN';
  const named = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('RUN', run)) as T;
  for (const example of examples) {
    const name = `${example.method} ${example.path}`;
    const ask = () => api.ask(example.method, named(example.path), example.body, example.headers);
    const differs = (answer: Answer) => {
      if (example.path.endsWith('/runs') && answer.status === 202) run = answer.body.id;
      const wanted = { status: example.status, headers: { ...example.answerHeaders, '…': '…' }, body: example.answer };
      return difference(named(wanted), answer, name);
    };
    let answer = await ask();
    // A run continues by itself: its reads eventually match the description.
    while (example.method === 'GET' && answer.status === example.status) {
      waitedFor = differs(answer);
      if (waitedFor === null) break;
      await lookAgain();
      answer = await ask();
    }
    expect(differs(answer), JSON.stringify(answer.body)).toBeNull();
    // The machines come up only once the reader has seen them deploying; a pause may have held them back until now.
    if (example.path.endsWith('/nodes/node01/retry')) {
      while (Object.keys(await site.entered(MachineStatus.Deploying)).length < 2) await lookAgain();
      for (const node of ['node01', 'node02']) await site.control(`${node}/deployed`, {});
    }
  }
});

it('the table of codes has every code with its status', () => {
  const rows = [...text.matchAll(/^\| `([a-z-]+)` +\| (\d{3}) +\|/gm)].map(([, code, status]) => [
    code,
    Number(status),
  ]);
  const http = {
    unauthenticated: 401,
    forbidden: 403,
    busy: 503,
    'too-many-requests': 429,
    'method-not-allowed': 405,
    'not-offered': 410,
    timeout: 408,
    'too-large': 413,
    'unsupported-media-type': 415,
    'expectation-failed': 417,
    'headers-too-large': 431,
  };
  const codes = Object.entries(PROBLEM_CODES).map(([code, { status }]) => [code, status] as const);
  expect(Object.fromEntries(rows)).toEqual({ ...Object.fromEntries(codes), ...http });
});

it('the routes are generated from their declarations (npm run docs:rest), and are those of the description', async () => {
  const [, generated = ''] = text.split('<!-- routes: generated by `npm run docs:rest` -->\n\n');
  expect(generated).toBe(routesReference());
  const { body } = await api.ask('GET', '/openapi.json');
  const routes = Object.entries<Record<string, { summary: string }>>(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { summary }]) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}: ${summary}`,
    ),
  );
  const rows = [...generated.matchAll(/^\| `([A-Z]+ [^`]+)` \| \w+ \| (.*?) \|$/gm)].map(
    ([, route, summary]) => `${route}: ${summary}`,
  );
  expect(rows.sort()).toEqual(routes.sort());
});
