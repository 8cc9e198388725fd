import { query } from '../api.js';
import { html } from '../html.js';
import { Command, Empty, Fold, Loaded, Missing, State, Title } from '../parts.js';
import { addressWith } from '../router.js';
import { listsChanged, useData } from '../store.js';
import { Table } from '../table.js';
import { Ago } from '../times.js';
import { count, some } from '../words.js';
import { Commit, Documents } from './revisions.js';
import { RunTable } from './runs.js';
import { SitePlan } from './site-plan.js';
import { StartRun } from './sites.js';

const LIST = ['/sites', 'Sites'];

/** One site: its revisions, groups, machines and runs. */
export function SiteView({ id, query: given }) {
  const base = `/api/v1/sites/${encodeURIComponent(id)}`;
  const again = listsChanged.value;
  const site = useData(base, { again });
  const revisions = useData(`${base}/revisions${query({ limit: 20 })}`, { again });
  const runs = useData(`${base}/runs${query({ limit: 20 })}`, { again });
  const open = runs.data?.items.find((run) => run.outcome === null);
  if (site.data === undefined && site.problem !== undefined)
    return html`<${Missing} of=${`Site ${id}`} problem=${site.problem} list=${LIST} onRetry=${site.reload} />`;
  return html`<${Title} of=${`Site ${id}`} trail=${[LIST]} actions=${site.data && html`<${StartRun} site=${site.data} open=${open} />`} />
    ${
      site.data?.latest_revision === null &&
      html`<${Empty} title="This site has no documents yet.">
      <p>Commit a folder of YAML documents; then it can be tested and deployed:</p>
      <${Command} text=${`sitewright site commit ${id} FOLDER`} />
    <//>`
    }
    ${site.data?.source && html`<${Source} of=${site.data.source} />`}
    ${given.has('plan') && site.data?.latest_revision != null && html`<${SitePlan} base=${base} site=${site.data} query=${given} />`}
    <h2>Runs</h2>
    <${Loaded} from=${runs}>${({ items }) => html`<${RunTable} runs=${items} empty="No runs yet: deploy it above." />`}<//>
    <h2>Revisions</h2>
    <${Loaded} from=${revisions}>
      ${({ items }) =>
        html`<${Table}
          label="Revisions"
          rows=${items}
          keyOf=${(one) => one.number}
          empty="No revisions yet."
          columns=${[
            [
              'Revision',
              (one) =>
                html`<a href=${addressWith({ revision: one.number, since: one.number > 1 ? one.number - 1 : '' })} data-stay aria-label=${`Show revision ${one.number}`}>${one.number}</a>`,
              'number',
            ],
            ['Commit', (one) => html`<${Commit} id=${one.commit_id} url=${one.commit_url} />`],
            [
              '',
              (one) =>
                one.last_good
                  ? html`<${State} of="success">last good<//>`
                  : one.forced
                    ? html`<${State} of="failed">with errors<//>`
                    : '',
            ],
            ['Message', (one) => one.message ?? ''],
            ['By', (one) => one.author ?? ''],
            ['At', (one) => html`<${Ago} of=${one.created_at} />`],
            ['Hash', (one) => html`<code>${one.hash.slice(0, 12)}</code>`],
          ]}
        />`}
    <//>
    ${
      site.data?.latest_revision != null &&
      html`<h2>Documents</h2>
      <${Documents} base=${base} newest=${site.data.latest_revision} query=${given} />
      <h2>Deployment groups of the latest revision</h2>
      <${Groups} base=${base} />
      <h2>Machines</h2>
      <${Machines} base=${base} />
      <h2>Drift</h2>
      <${Drift} base=${base} />`
    }`;
}

const Source = ({ of: { url, branch, folder } }) => html`<p class="facts">
  Follows <strong>${branch}</strong> of <code>${url}</code>${folder && html`, folder <code>${folder}</code>`}.
</p>`;

function Groups({ base }) {
  const strategy = useData(`${base}/revisions/latest/strategy`);
  return html`<${Loaded} from=${strategy}>
    ${({ groups }) =>
      html`<${Table}
        label="Deployment groups"
        rows=${groups}
        keyOf=${(one) => one.name}
        columns=${[
          [
            'Group',
            (one) => html`<strong>${one.name}</strong> ${one.critical && html`<span class="tag">critical</span>`}`,
          ],
          ['After', (one) => one.depends_on.join(', ')],
          ['Nodes', (one) => html`${count(one.nodes.length, 'node')} <span class="quiet">${some(one.nodes)}</span>`],
          ['Criteria', (one) => criteriaOf(one.success_criteria)],
        ]}
      />`}
  <//>`;
}

function criteriaOf(criteria) {
  if (criteria === undefined || criteria === null) return '';
  const { percent_successful_nodes: percent, minimum_successful_nodes: least, maximum_failed_nodes: most } = criteria;
  const all = [
    percent !== undefined && `at least ${percent} %`,
    least !== undefined && `at least ${least}`,
    most !== undefined && `at most ${most} failed`,
  ];
  return all.filter(Boolean).join(', ');
}

/** Asked for by hand: MAAS has to answer. */
function Machines({ base }) {
  return html`<${Fold} label="Show their state in MAAS">${() => html`<${MachineTable} base=${base} />`}<//>`;
}

function MachineTable({ base }) {
  const nodes = useData(`${base}/nodes/status`, { every: 15_000 });
  return html`<${Loaded} from=${nodes}>
    ${({ nodes: all, stale }) =>
      html`${stale && html`<p class="quiet">MAAS does not answer; this is the last known state.</p>`}
        <${Table}
          label="Machines"
          rows=${all}
          keyOf=${(one) => one.node}
          columns=${[
            ['Node', (one) => one.node],
            ['State', (one) => html`<${State} of=${one.status ?? 'unknown'} />`],
            ['Power', (one) => one.power ?? ''],
            ['Zone', (one) => one.zone ?? ''],
            ['Tags', (one) => (one.tags ?? []).join(', ')],
          ]}
        />`}
  <//>`;
}

/** Asked for by hand: MAAS has to answer. */
function Drift({ base }) {
  return html`<${Fold} label="Compare MAAS with the deployment">${() => html`<${DriftTable} base=${base} />`}<//>`;
}

function DriftTable({ base }) {
  const drift = useData(`${base}/drift`, { every: 60_000 });
  return html`<${Loaded} from=${drift}>
    ${({ nodes }) => {
      const changed = nodes.filter(({ state }) => state === 'drifted' || state === 'missing');
      const unrecorded = nodes.filter(({ state }) => state === 'unrecorded');
      return html`<p>
          ${nodes.length === 0 ? 'Nothing is deployed.' : `${count(changed.length, 'machine')} of ${nodes.length} ${changed.length === 1 ? 'differs' : 'differ'} from what was deployed.`}
          ${unrecorded.length > 0 && html` <span class="quiet">Not recorded before their next deployment: ${some(unrecorded.map(({ node }) => node))}</span>`}
        </p>
        ${
          changed.length > 0 &&
          html`<${Table}
          label="Machines that differ"
          rows=${changed}
          keyOf=${(one) => one.node}
          columns=${[
            ['Node', (one) => one.node],
            [
              'Deployed',
              (one) => html`<${Ago} of=${one.deployed_at} /> <span class="quiet">revision ${one.revision}</span>`,
            ],
            ['Difference', (one) => html`<${Differences} of=${one} />`],
          ]}
        />`
        }`;
    }}
  <//>`;
}

const Differences = ({ of: { state, system_id: id, differences } }) =>
  state === 'missing'
    ? `MAAS no longer lists its machine ${id}`
    : html`<ul>${differences.map(({ what, deployed, now }) => html`<li>${what}: ${deployed ?? 'none'} → ${now ?? 'none'}</li>`)}</ul>`;
