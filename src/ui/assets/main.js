import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import './page.css';
import './parts.css';
import './views.css';
import { get, operator, post, send } from './api.js';
import { html } from './html.js';
import { actorName, hasToken, learnWhoWeAre, me } from './identity.js';
import { notice, Problem, Title } from './parts.js';
import { followLinks, place } from './router.js';
import { awaySince, problemOf, silentSince, staleSince, watchLists } from './store.js';
import { ThemeSwitch } from './theme.js';
import { AuditView } from './views/audit.js';
import { ClusterView } from './views/cluster.js';
import { ClustersView } from './views/clusters.js';
import { CompareView } from './views/compare.js';
import { GraphView } from './views/graph.js';
import { GraphsView } from './views/graphs.js';
import { NodeView } from './views/node.js';
import { NodesView } from './views/nodes.js';
import { NoticesView } from './views/notices.js';
import { PackageView } from './views/package.js';
import { PackagesView } from './views/packages.js';
import { RunView } from './views/run.js';
import { RunsView } from './views/runs.js';
import { SchedulesView } from './views/schedules.js';
import { SiteView } from './views/site.js';
import { SitesView } from './views/sites.js';
import { TagsView } from './views/tags.js';

const MENU = [
  ['sites', 'Sites'],
  ['runs', 'Runs'],
  ['schedules', 'Schedules'],
  ['notices', 'Notices'],
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
  schedules: SchedulesView,
  notices: NoticesView,
  nodes: NodesView,
  clusters: ClustersView,
  graphs: GraphsView,
  packages: PackagesView,
  tags: TagsView,
  audit: AuditView,
  compare: CompareView,
};

const ONES = {
  sites: SiteView,
  runs: RunView,
  nodes: NodeView,
  clusters: ClusterView,
  graphs: GraphView,
  packages: PackageView,
};

function Page() {
  const [refused, setRefused] = useState(null);
  useEffect(() => {
    const asked = (event) => setRefused(event.detail);
    addEventListener('sitewright:login', asked);
    return () => removeEventListener('sitewright:login', asked);
  }, []);
  const [, section = ''] = place.value.path.split('/');
  const name = section === '' ? 'sites' : section;
  return html`<a class="skip" href="#main">Skip to content</a>
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
    <main id="main" tabindex="-1">
      <${Stale} />
      ${refused === null ? html`<${View} name=${name} />` : html`<${SignIn} refused=${refused} />`}
    </main>
    <div class="notice" role="status" aria-live="polite">${notice}</div>`;
}

/** The view of the address. */
function View({ name }) {
  const { path, query } = place.value;
  const id = path.split('/')[2];
  const One = ONES[name];
  const List = LISTS[name];
  if (id !== undefined && One !== undefined)
    return html`<${One} key=${path} id=${decodeURIComponent(id)} query=${query} />`;
  if (List !== undefined && id === undefined) return html`<${List} key=${name} query=${query} />`;
  return html`<${Title} of="Page not found" />
    <p>There is nothing at <code>${path}</code>. Choose a page above, or go to the <a href="/sites">sites</a>.</p>`;
}

/** Who acts, and whether news come. */
function Operator() {
  const change = (event) => {
    operator.name = event.target.value.trim();
  };
  const leave = async () => {
    // If the session has ended already, that is the goal.
    await send('DELETE', '/api/v1/session').catch(() => undefined);
    location.assign('/');
  };
  const stale = staleSince.value !== null;
  return html`<div class="operator">
    <span class=${stale ? 'news away' : 'news'} title=${stale ? 'Data may be out of date' : 'The page updates itself'}
      >${stale ? 'stale' : 'live'}</span
    >
    <${ThemeSwitch} />
    ${
      hasToken()
        ? html`<span>${actorName()} <span class="tag">${me.value.role}</span></span>
            <button type="button" onClick=${leave}>Sign out</button>`
        : html`<label><span>You are</span> <input value=${operator.name} onChange=${change} placeholder="your name" autocomplete="off" size="10" /></label>`
    }
    <a href="/docs">API</a>
  </div>`;
}

/** While there is no news: since when, why, and that nothing has to be done. */
function Stale() {
  if (awaySince.value !== null)
    return html`<p class="banner" role="status">
      The API has not answered since ${awaySince.value.toLocaleTimeString()}. The page shows the state of that time and
      updates once the API is back.
    </p>`;
  if (silentSince.value === null) return null;
  const { at, problem } = silentSince.value;
  return html`<p class="banner" role="status">
    No news since ${at.toLocaleTimeString()}: ${problem.detail} ${problem.hint} The page shows the state of that time and
    updates itself later.
  </p>`;
}

const FAILURES = {
  'provider-away': 'The provider does not answer. Try again later, or use a token.',
  refused: 'The provider did not confirm who you are. Try again.',
  expired: 'Signing in took too long, or this browser blocks cookies. Try again.',
  'no-name': 'The provider did not identify you. Ask an admin.',
  'no-role': 'You have no access: none of your groups has a role here. Ask an admin.',
};

/** Asks who it is once the API asked for it: by the provider if there is one, or by a token. */
function SignIn({ refused }) {
  const [login, setLogin] = useState(null);
  const [problem, setProblem] = useState(refused.ended ? refused : undefined);
  useEffect(() => {
    void get('/api/v1/session').then(
      ({ openid }) => setLogin(openid),
      () => undefined,
    );
  }, []);
  const submit = async (event) => {
    event.preventDefault();
    try {
      await post('/api/v1/session', { token: new FormData(event.target).get('token').trim() });
      location.reload();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  const failure = FAILURES[new URLSearchParams(location.search).get('sign_in')];
  const here = failure === undefined ? location.pathname + location.search : '/';
  return html`<${Title} of="Sign in" />
    ${failure !== undefined && html`<p role="alert">${failure}</p>`}
    ${
      login !== null &&
      html`<p><a class="button main" href=${`${login}?return_to=${encodeURIComponent(here)}`}>Sign in with your organization</a></p>`
    }
    <form class="login" onSubmit=${submit}>
      ${
        problem === undefined
          ? html`<p>${login === null ? 'This API requires a token.' : 'Or use a token.'} An admin creates one with:</p>
              <pre>sitewright token create --name NAME --role operator</pre>`
          : html`<${Problem} of=${{ ...problem, hint: 'It may be mistyped, expired or revoked. Ask an admin for another.' }} />`
      }
      <label class="field"><span>Token</span><input type="password" name="token" required autocomplete="off" autofocus /></label>
      <p class="quiet">It is kept until you close the browser, out of reach of scripts, and sent to this API only.</p>
      <div class="actions"><button class="main" type="submit">Sign in</button></div>
    </form>`;
}

const root = document.getElementById('page');
root.textContent = '';
render(html`<${Page} />`, root);
followLinks(document.body);
watchLists();
void learnWhoWeAre();
