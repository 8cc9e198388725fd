// Gives a node that joins a cluster the data of one that is there: its names and ids are the new node's, the rest stays.
//
//   node add-node.mjs FACTS.json --like 6 --id 7 --role base-os
//
// FACTS.json is what `sitewright cluster facts --upload` takes; the result goes to standard output.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { like: { type: 'string' }, id: { type: 'string' }, role: { type: 'string' } },
});
const { like, id, role } = values;
if (positionals.length !== 1 || !like || !id || !role) {
  console.error('usage: node add-node.mjs FACTS.json --like ID --id ID --role ROLE');
  process.exit(2);
}
const facts = JSON.parse(readFileSync(positionals[0], 'utf8'));
const common = facts.find(({ uid }) => uid === 'common');
const model = facts.find(({ uid }) => uid === like);
const { nodes } = common.network_metadata;
const name = Object.keys(nodes).find((one) => nodes[one].uid === like);

const renamed = (value) => JSON.parse(JSON.stringify(value).replaceAll(name, `node-${id}`));
const joined = { ...renamed(nodes[name]), uid: id, swift_zone: id, node_roles: [role] };
common.network_metadata.nodes = { ...nodes, [`node-${id}`]: joined };
console.log(JSON.stringify([...facts, { ...renamed(model), uid: id, roles: [role] }], null, 2));
