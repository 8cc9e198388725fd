import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type ApiRig, apiAlone } from '../api/api-rig.ts';
import { closePages, describePage, launch, type OpenPage, openPage, screenshot } from './browser.ts';

describePage('the documents in a browser', () => {
  let browser: Browser;
  let rig: ApiRig;
  let origin: string;
  const opened: OpenPage[] = [];
  beforeAll(async () => {
    [browser, rig] = await Promise.all([launch(), apiAlone()]);
    origin = await rig.api.listen({ port: 0, host: '127.0.0.1' });
  });
  afterEach(() => closePages(opened));
  afterAll(() => Promise.all([browser.close(), rig.close()]));

  const at = async (path: string, options = {}) => {
    const one = await openPage(browser, `${origin}${path}`, options);
    opened.push(one);
    return one.page;
  };

  it('are found by words, with the keyboard alone', async () => {
    const page = await at('/docs/');
    await page.keyboard.press('/');
    await page.keyboard.type('kubernetes');
    await page.locator('#hits a').first().waitFor();
    await screenshot(page, 'docs-search');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/kubernetes/);
    await page.getByRole('heading', { level: 1, name: /Kubernetes/ }).waitFor();
  });

  it('are linked from the web page', async () => {
    const page = await at('/');
    await page.getByRole('link', { name: 'Docs', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Sitewright' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/docs/');
  });

  it('keep the theme that was chosen', async () => {
    const page = await at('/docs/reference/cli.html');
    await page.getByLabel('Theme').selectOption('dark');
    await page.goto(`${origin}/docs/explain/design.html`);
    expect(await page.evaluate('getComputedStyle(document.body).colorScheme')).toBe('dark');
  });

  it.each(['/docs/', '/docs/reference/cli.html', '/docs/explain/design.html', '/docs/reference/rest.html'])(
    '%s fits a phone, and has no barrier',
    async (path) => {
      const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
      for (const options of [{ width: 380 }, { dark: true }]) {
        const page = await at(path, options);
        await page.getByRole('heading', { level: 1 }).waitFor();
        const width = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        expect(width).toBeLessThanOrEqual(0);
        await page.evaluate(axe);
        const { violations } = await page.evaluate<{
          violations: { id: string; impact: string; nodes: { html: string }[] }[];
        }>('axe.run()');
        expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
      }
    },
  );
});
