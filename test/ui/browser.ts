import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { afterEach, describe, expect } from 'vitest';

/** Where Debian, Ubuntu and others have it; CHROMIUM names another. Without windows, it takes two thirds of the processor time. */
const executable = [
  process.env.CHROMIUM,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));

/** Tests of the web page in a real browser; skipped with a reason where there is none. */
export const describePage = executable === undefined ? describe.skip : describe;
if (executable === undefined) {
  console.warn(
    'The web page is not tested: no Chromium found. Install it (apt install chromium), or name it in CHROMIUM.',
  );
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
}

/** A page of a browser with all complaints of the browser. */
export interface OpenPage {
  readonly page: Page;
  /** Errors of the console, breaches of the policy, and exceptions; must stay empty. */
  readonly complaints: string[];
  close(): Promise<void>;
}

/** Closes pages, and expects no complaints of the browser. */
export async function closePages(opened: OpenPage[]): Promise<void> {
  const all = opened.splice(0);
  await Promise.all(all.map((one) => one.close()));
  expect(all.flatMap(({ complaints }) => complaints)).toEqual([]);
}

/**
 * Opens pages of an API, and closes them after each test.
 *
 * @param where asked when a page is opened: both are there only then
 */
export function pages(where: () => { readonly browser: Browser; readonly origin: string }) {
  const opened: OpenPage[] = [];
  afterEach(() => closePages(opened));
  return async (path: string, options?: PageOptions): Promise<Page> => {
    const { browser, origin } = where();
    const one = await openPage(browser, `${origin}${path}`, options);
    opened.push(one);
    return one.page;
  };
}

/** One browser a test file. */
export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: executable!, args: ['--no-sandbox', '--disable-gpu'] });

/** A page for a busy machine: a step that takes longer than this never comes. */
export async function patientPage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  return page;
}

/** Answers of the API at `url` wait until `come` is called. */
export async function hold(page: Page, url: RegExp): Promise<() => void> {
  let come!: () => void;
  const wanted = new Promise<void>((resolve) => {
    come = resolve;
  });
  await page.route(url, async (route) => {
    await wanted;
    await route.continue();
  });
  return come;
}

/** Of a dialog: the names of what it will touch. */
export const previewOf = (where: Page | Locator): Locator =>
  where.getByRole('region', { name: 'What will be touched' });

/** The text of the focused element. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate<string>('document.activeElement.textContent.trim()');

export async function openPage(browser: Browser, url: string, options: PageOptions = {}): Promise<OpenPage> {
  const { width = 1280, height = 800, dark = false } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    locale: 'en-GB',
    timezoneId: 'UTC',
  });
  const page = await patientPage(context);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error.stack ?? error)));
  page.on('console', (message) => {
    // The page shows refusals by the API; the browser only repeats the status.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL(url).origin) && !request.url().startsWith('blob:'))
      complaints.push(`asked for ${request.url()}`);
  });
  await page.goto(url);
  return {
    page,
    complaints,
    async close() {
      if (process.env.PAGE_AT_END) await page.screenshot({ path: process.env.PAGE_AT_END, fullPage: true });
      await context.close();
    },
  };
}

/**
 * A state of the page that is worth a picture has no serious finding. Keeps the picture for the documents with
 * `SCREENSHOTS=1 npx vitest run test/ui/`.
 */
export async function screenshot(page: Page, name: string): Promise<void> {
  expect(await seriousFindings(page), name).toEqual([]);
  if (!process.env.SCREENSHOTS) return;
  await page.screenshot({ path: fileURLToPath(new URL(`../../docs/images/${name}.png`, import.meta.url)) });
}

/** Serious and critical findings of axe-core on the current page. */
export async function seriousFindings(page: Page, only?: string): Promise<readonly string[]> {
  await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
  const found = await page.evaluate<{ id: string; impact: string; nodes: { html: string }[] }[]>(
    `axe.run(document, { resultTypes: ['violations']${only === undefined ? '' : `, runOnly: ['${only}']`} }).then(({ violations }) => violations)`,
  );
  const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return serious.map(({ id, nodes }) => `${id} ${nodes.length} ${nodes[0]!.html}`);
}
