import { post } from '../api.js';
import { Action, heldBefore, holdField } from '../ask.js';
import { html } from '../html.js';
import { go } from '../router.js';
import { useData } from '../store.js';
import { said } from '../words.js';
import { RunGraphs } from './run-graphs.js';

const KINDS = ['deploy_site', 'update_site', 'redeploy_nodes', 'test_site'];

/** Starts a run like an ended one, with changes: its input is offered again. */
export function RunAgain({ base, run }) {
  const detail = useData(base);
  if (detail.data === undefined) return null;
  // One that was recorded without its input is offered again as any other.
  const given = detail.data.parameters ?? {};
  return run.kind === 'execute_graph'
    ? run.labels.cluster !== undefined && html`<${GraphsAgain} id=${Number(run.labels.cluster)} given=${given} />`
    : html`<${SiteAgain} site=${run.site} given=${given} kind=${run.kind} />`;
}

function GraphsAgain({ id, given }) {
  const base = `/api/v1/clusters/${id}`;
  const cluster = useData(base);
  const nodes = useData(`/api/v1/nodes?cluster_id=${id}`);
  const graphs = useData(`/api/v1/graphs?clusters_ids=${id}&fetch_related=1`);
  if (cluster.data === undefined || nodes.data === undefined || graphs.data === undefined) return null;
  const types = [...new Set(graphs.data.flatMap((one) => one.relations.map(({ type }) => type)))].sort();
  return html`<${RunGraphs} ...${{ id, types, given, nodes: nodes.data, locked: cluster.data.is_locked }} type=${types[0]} label="Run again" />`;
}

function SiteAgain({ site, given, kind }) {
  const start = async ({ revision, nodes, hold_before: held, reason, ...flags }) => {
    const names = nodes?.split(/[\s,]+/).filter(Boolean) ?? [];
    const number = Number(revision);
    const body = {
      kind: flags.kind,
      ...(revision ? { revision: Number.isInteger(number) ? number : revision } : {}),
      ...(names.length > 0 ? { nodes: names } : {}),
      ...(flags.erase ? { erase: true } : {}),
      ...(flags.release_removed ? { release_removed: true } : {}),
      ...(flags.kind === 'test_site' ? {} : heldBefore(held)),
      ...(reason ? { reason } : {}),
    };
    const run = await post(`/api/v1/sites/${encodeURIComponent(site)}/runs`, body);
    go(`/runs/${run.id}`);
  };
  const fields = [
    { name: 'kind', label: 'Kind', options: KINDS.map((one) => [one, said(one)]), value: kind },
    { name: 'revision', label: 'Revision', value: String(given.revision ?? ''), placeholder: 'latest' },
    {
      name: 'nodes',
      label: 'Nodes to redeploy',
      value: (given.nodes ?? []).join(', '),
      placeholder: 'comma-separated names',
    },
    holdField('groups', given.hold_before),
    { name: 'erase', label: 'Redeploy: also erase the disks', type: 'checkbox', value: given.erase ?? false },
    {
      name: 'release_removed',
      label: 'Update: release machines of removed nodes',
      type: 'checkbox',
      value: given.release_removed ?? false,
    },
  ];
  return html`<${Action} label="Run again" title=${`Run again on ${site}`} fields=${fields} act=${start} done="The run has started." />`;
}
