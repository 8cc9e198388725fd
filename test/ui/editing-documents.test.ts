import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiRig, apiAlone } from '../api/api-rig.ts';
import { describePage, launch, pages, previewOf, screenshot, seriousFindings } from './browser.ts';

describePage('the documents of a site in the editor of the page', () => {
  let browser: Browser;
  let rig: ApiRig;
  let origin: string;
  const at = pages(() => ({ browser, origin }));

  beforeAll(async () => {
    [browser, rig] = await Promise.all([launch(), apiAlone()]);
    await rig.ask('POST', '/api/v1/sites', { name: 'dc1' });
    const names = ['configuration.yaml', 'nodes.yaml', 'strategy.yaml'];
    const files = await Promise.all(
      names.map(async (name) => ({
        name,
        text: await readFile(fileURLToPath(new URL(`../../examples/first-site/${name}`, import.meta.url)), 'utf8'),
      })),
    );
    await rig.ask('POST', '/api/v1/sites/dc1/revisions', { files });
    await rig.api.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(rig.api.server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await rig?.close();
    await browser?.close();
  });

  const editor = (page: Page, name: string) => page.getByRole('textbox', { name });

  it('are checked as they are typed, across files, and committed by what changes', async () => {
    const page = await at('/sites/dc1');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.getByRole('link', { name: 'Edit documents' }).click();
    await editor(page, 'configuration.yaml').waitFor();
    expect(asked).toContain('/assets/editor.js');
    await page.getByText('valid: 4 nodes in 2 groups').waitFor();
    await page.getByRole('link', { name: 'strategy.yaml', exact: true }).click();
    const text = editor(page, 'strategy.yaml');
    await text.getByText('depends_on: [control]').click();
    await page.keyboard.press('End');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('s]');
    const problem = page.getByRole('list', { name: 'Problems' }).getByRole('listitem');
    await problem.filter({ hasText: /strategy\.yaml:18:.*controls/ }).waitFor();
    // The same in the text, at its place.
    await page.locator('.cm-lintRange-error').getByText('controls').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await screenshot(page, 'page-editor');
    await text.getByText('depends_on: [controls]').click();
    await page.keyboard.press('End');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    await page.keyboard.type(', control]');
    await page.getByText('valid: 4 nodes in 2 groups').waitFor();
    await text.getByText('minimum_successful_nodes').click();
    await page.keyboard.press('End');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('3');
    await page.getByText('valid: 4 nodes in 2 groups').waitFor();
    await page.getByRole('button', { name: 'Commit' }).click();
    const changes = previewOf(page);
    await changes.getByText('+        minimum_successful_nodes: 3').waitFor();
    await page.getByLabel('What changed and why').fill('All workers');
    await page.getByRole('dialog').getByRole('button', { name: 'Commit' }).click();
    await page.waitForURL('**/sites/dc1?revision=2&since=1');
    const { body } = await rig.ask('GET', '/api/v1/sites/dc1/revisions/2');
    expect(body).toMatchObject({ message: 'All workers', diagnostics: [] });
  });

  it('are proposed by the published schemas: keys, with what they are for, and values', async () => {
    const page = await at('/sites/dc1?edit=strategy.yaml');
    await editor(page, 'strategy.yaml').getByText('name: workers').click();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.keyboard.type('crit');
    // By mouse: for a moment after the list opens, Enter is still a new line.
    await page.getByRole('option', { name: 'critical' }).click();
    await page.keyboard.press('Control+Space');
    await page.getByRole('option', { name: 'true' }).waitFor();
  });

  it('fit a phone, and the dark', async () => {
    const page = await at('/sites/dc1?edit=nodes.yaml', { width: 390, height: 800, dark: true });
    await editor(page, 'nodes.yaml').waitFor();
    await page.getByText(/valid: 4 nodes/).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    expect(await seriousFindings(page)).toEqual([]);
  });
});
