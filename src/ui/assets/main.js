import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { operator, token } from './api.js';
import { downloadWithToken } from './download.js';
import { html } from './html.js';
import { notice, Problem } from './parts.js';
import { followLinks, place } from './router.js';
import { liveness, watchLists } from './store.js';
import { AuditView } from './views/audit.js';
import { ClusterView } from './views/cluster.js';
import { ClustersView } from './views/clusters.js';
import { GraphView } from './views/graph.js';
import { GraphsView } from './views/graphs.js';
import { NodesView } from './views/nodes.js';
import { PackagesView } from './views/packages.js';
import { RunView } from './views/run.js';
import { RunsView } from './views/runs.js';
import { SiteView } from './views/site.js';
import { SitesView } from './views/sites.js';
import { TagsView } from './views/tags.js';

const MENU = [
  ['sites', 'Sites'],
  ['runs', 'Runs'],
  ['nodes', 'Nodes'],
  ['clusters', 'Clusters'],
  ['graphs', 'Graphs'],
  ['packages', 'Packages'],
  ['tags', 'Tags'],
  ['audit', 'Audit'],
];

const LISTS = {
  sites: SitesView,
  runs: RunsView,
  nodes: NodesView,
  clusters: ClustersView,
  graphs: GraphsView,
  packages: PackagesView,
  tags: TagsView,
  audit: AuditView,
};

const ONES = { sites: SiteView, runs: RunView, clusters: ClusterView, graphs: GraphView };

function Page() {
  const [, section = '', id] = place.value.path.split('/');
  const name = section === '' ? 'sites' : section;
  const One = ONES[name];
  const List = LISTS[name];
  const shown =
    id !== undefined && One !== undefined
      ? html`<${One} key=${place.value.path} id=${decodeURIComponent(id)} query=${place.value.query} />`
      : html`<${List} key=${name} query=${place.value.query} />`;
  return html`<a class="skip" href="#main">Skip to the content</a>
    <nav aria-label="Main">
      <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="22" height="22" /> Sitewright</a>
      <ul>
        ${MENU.map(
          ([key, text]) =>
            html`<li key=${key}><a href=${`/${key}`} aria-current=${key === name ? 'page' : undefined}>${text}</a></li>`,
        )}
      </ul>
      <${Operator} />
    </nav>
    <main id="main">
      <${Login} />
      ${shown}
    </main>
    <div class="notice" role="status" aria-live="polite">${notice}</div>`;
}

/** Who acts, and whether news come. */
function Operator() {
  const change = (event) => {
    operator.name = event.target.value.trim();
  };
  return html`<div class="operator">
    <span class=${`news ${liveness.value}`} title=${liveness.value === 'live' ? 'News come by themselves' : 'The API is away'}
      >${liveness.value}</span
    >
    <label><span>You are</span> <input value=${operator.name} onChange=${change} placeholder="your name" autocomplete="off" size="10" /></label>
    <a href="/docs">API</a>
  </div>`;
}

/** Asks for a token once the API asked for one. */
function Login() {
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    const asked = (event) => setProblem(event.detail);
    addEventListener('sitewright:login', asked);
    return () => removeEventListener('sitewright:login', asked);
  }, []);
  if (problem === null) return null;
  const submit = (event) => {
    event.preventDefault();
    token.set(new FormData(event.target).get('token').trim());
    location.reload();
  };
  return html`<form class="login" onSubmit=${submit}>
    <${Problem} of=${problem} />
    <label class="field"><span>Token</span><input type="password" name="token" required autocomplete="off" /></label>
    <button class="main" type="submit">Sign in</button>
  </form>`;
}

const root = document.getElementById('page');
root.textContent = '';
render(html`<${Page} />`, root);
followLinks(document.body);
downloadWithToken(document.body);
watchLists();
