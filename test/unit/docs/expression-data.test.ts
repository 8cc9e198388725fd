import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COMMON_DATA, COMMON_FACTS } from '../../../src/clusters/state/common-data.ts';
import { NODE_DATA, NODE_FACTS } from '../../../src/clusters/state/node-data.ts';

const PAGE = new URL('../../../docs/reference/expression-data.md', import.meta.url);
const TABLES = {
  'common data': COMMON_DATA,
  'common facts': COMMON_FACTS,
  'node data': NODE_DATA,
  'node facts': NODE_FACTS,
};

function withTables(page: string): string {
  return Object.entries(TABLES).reduce((text, [name, keys]) => {
    const rows = Object.entries(keys).map(([key, { holds, origin }]) => `| \`$.${key}\` | ${holds} | ${origin} |\n`);
    const table = `| key | holds | comes from |\n| --- | --- | --- |\n${rows.join('')}`;
    return text.replace(new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- end -->)`), `$1\n${table}\n$2`);
  }, page);
}

describe('docs/reference/expression-data.md', () => {
  it('has every key and its source (UPDATE_GOLDEN=1 writes it)', () => {
    const page = readFileSync(PAGE, 'utf8');
    const wanted = withTables(page.replace(/(<!-- \w+ \w+ -->\n)\n/g, '$1'));
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(PAGE, wanted);
    else expect(page).toBe(wanted);
    for (const name of Object.keys(TABLES)) expect(page).toContain(`<!-- ${name} -->`);
  });
});
