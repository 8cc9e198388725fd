// Writes test/architecture/budget.json, what each room may weigh, from the tree as it is: npm run budget.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type House, houseIn, overBudget } from '../test/architecture/rooms.ts';

const target = 'test/architecture/budget.json';
const root = fileURLToPath(new URL('../', import.meta.url));
const house = houseIn(root);
const grown = overBudget(JSON.parse(readFileSync(root + target, 'utf8')) as House, house);

// A line a room: two branches that change different rooms merge by themselves.
const rooms = Object.entries(house.rooms).map(
  ([name, { lines, files, long, types }]) =>
    `    "${name}": { "lines": ${lines}, "files": ${files}, "long": ${long}, "types": ${types} }`,
);
writeFileSync(
  root + target,
  `{\n  "rooms": {\n${rooms.join(',\n')}\n  },\n  "arrows": ${house.arrows},\n  "small": ${house.small},\n  "words": ${house.words}\n}\n`,
);
const sum = (what: 'lines' | 'files' | 'long' | 'types'): number =>
  Object.values(house.rooms).reduce((all, room) => all + room[what], 0);
console.log(
  `${target}: ${sum('lines')} lines in ${sum('files')} files, ${sum('long')} long functions, ${sum('types')} types`,
);
if (grown.length > 0) console.log(['Say in the commit why these grow:', ...grown].join('\n  '));
