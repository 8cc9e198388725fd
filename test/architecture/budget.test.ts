import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { type House, houseIn, measure, overBudget, wordsByHand } from './rooms.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const budget = JSON.parse(readFileSync(new URL('budget.json', import.meta.url), 'utf8')) as House;

it('no room is above its budget', () => {
  const grown = overBudget(budget, houseIn(root));
  expect(grown, 'Make it smaller, or type `npm run budget` and say in the commit why it grows').toEqual([]);
});

it('the budget finds a room that grows, a new one and one that is gone, and lets others shrink', () => {
  const room = { lines: 10, files: 2, long: 0, types: 1 };
  const before = { rooms: { ops: room, api: room, cli: room }, arrows: 3, small: 1, words: 5 };
  const after = {
    rooms: { ops: { ...room, lines: 12, files: 1, long: 1 }, api: { ...room, types: 0 }, runs: room },
    arrows: 4,
    small: 0,
    words: 4,
  };
  expect(overBudget(before, before)).toEqual([]);
  expect(overBudget(before, after).map((sentence) => sentence.split(': ')[0])).toEqual([
    'ops',
    'runs',
    'cli',
    'all rooms',
  ]);
});

it('a room is measured by its sources, an arrow by who imports whom', () => {
  const long = (lines: number): string => `export function f() {\n${'  f();\n'.repeat(lines - 2)}}\n`;
  const texts = new Map([
    ['src/ops/runs.ts', `import { f } from '../store/index.ts';\nexport type Run = string;\n${long(81)}`],
    ['src/ops/sites.ts', `${long(80)}const g = () => import('./runs.ts');\n`],
    ['src/ui/kit/look.css', 'a {\n}\n'],
    ['src/store/index.ts', 'export { f } from "@own/maas";\nexport interface Store {}\ninterface Own {}\n'],
    ['packages/maas/src/index.ts', long(50)],
    ['packages/maas/test/index.test.ts', long(90)],
  ]);
  const doors = new Map([['@own/maas', 'packages/maas/src/index.ts']]);
  expect(measure(texts, doors)).toEqual({
    rooms: {
      'packages/maas': { lines: 50, files: 1, long: 0, types: 0 },
      'src/ops': { lines: 164, files: 2, long: 1, types: 1 },
      'src/store': { lines: 3, files: 1, long: 0, types: 1 },
      'src/ui': { lines: 2, files: 1, long: 0, types: 0 },
    },
    arrows: 2,
    small: 1,
  });
});

it('a page has the words that somebody wrote', () => {
  const table = '| key |\n| --- |\n| made |\n';
  expect(wordsByHand(`# Two words | – |\n\n\`\`\`sh\nls -l\n\`\`\`\nend\n`)).toBe(3);
  expect(wordsByHand(`<!-- node data -->\n\n${table}\n<!-- end -->\nend\n`)).toBe(1);
  expect(wordsByHand(`before\n<!-- routes: generated -->\n${table}`)).toBe(1);
});
