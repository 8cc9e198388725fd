import { type ComponentChildren, render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import './kit/page.css';
import './kit/parts.css';
import './kit/views.css';
import { effect, signal } from '@preact/signals';
import type { SignInFailure } from '../core/words.ts';
import {
  at,
  awaySince,
  get,
  operator,
  type Problem as Refusal,
  type SignInAsked,
  send,
  slowRequest,
} from './kit/api.ts';
import { isText, type Option, submitted } from './kit/ask.tsx';
import { actorName, hasToken, learnWhoWeAre, me } from './kit/identity.ts';
import { Palette } from './kit/palette.tsx';
import { notice, Problem, Title } from './kit/parts.tsx';
import { followLinks, place } from './kit/router.ts';
import { obeyShortcuts, paletteOpen } from './kit/shortcuts.ts';
import { problemOf, silentSince, staleSince, watchLists } from './kit/store.ts';
import { AuditView } from './views/audit.tsx';
import { ClusterView } from './views/cluster.tsx';
import { ClustersView } from './views/clusters.tsx';
import { CompareView } from './views/compare.tsx';
import { GraphView } from './views/graph.tsx';
import { GraphsView } from './views/graphs.tsx';
import { HomeView } from './views/home.tsx';
import { NodeView } from './views/node.tsx';
import { NodesView } from './views/nodes.tsx';
import { NoticesView } from './views/notices.tsx';
import { PackageView } from './views/package.tsx';
import { PackagesView } from './views/packages.tsx';
import { RunView } from './views/run.tsx';
import { RunsView } from './views/runs.tsx';
import { SchedulesView } from './views/schedules.tsx';
import { SiteView } from './views/site.tsx';
import { SitesView } from './views/sites.tsx';
import { TagsView } from './views/tags.tsx';

const KEY = 'sitewright.theme';
const THEMES: readonly Option[] = [
  ['', 'system'],
  ['light', 'light'],
  ['dark', 'dark'],
];

/** The look that was chosen; '' follows the system. Kept in this browser. */
const theme = signal(localStorage.getItem(KEY) ?? '');
effect(() => {
  if (theme.value === '') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(KEY, theme.value);
});

const ThemeSwitch = () => (
  <label class="theme">
    <span class="unseen">Theme</span>
    <select
      aria-label="Theme"
      onChange={(event) => {
        theme.value = event.currentTarget.value;
      }}
    >
      {THEMES.map(([key, text]) => (
        <option key={key} value={key} selected={key === theme.value}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

/** Where `sitewright up` serves the page. */
const isOnThisMachine = (): boolean => /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(location.hostname);

/**
 * Signs in by the link that `sitewright up` prints: `/#token=…`, which no server sees. The token leaves the address bar and its
 * history; a cookie has it from then on, out of reach of scripts. Links lead others into no session beyond this machine.
 */
async function signInByLink(): Promise<void> {
  const [, token] = /^#token=([\w-]+)$/.exec(location.hash) ?? [];
  if (token === undefined) return;
  history.replaceState(null, '', location.pathname + location.search);
  // The page asks for a token where this one is refused.
  if (isOnThisMachine()) await send('POST /session', { body: { token } }).catch(() => undefined);
}

type Asked = { readonly query: URLSearchParams };
type PageOf = readonly [
  key: string,
  name: string,
  List: (asked: Asked) => ComponentChildren,
  One?: (asked: Asked & { readonly id: string }) => ComponentChildren,
];

/** By the first part of their addresses: a list, and one of it. */
const PAGES: readonly PageOf[] = [
  ['', 'Home', HomeView],
  ['sites', 'Sites', SitesView, SiteView],
  ['runs', 'Runs', RunsView, RunView],
  ['schedules', 'Schedules', SchedulesView],
  ['notices', 'Notices', NoticesView],
  ['nodes', 'Nodes', NodesView, NodeView],
  ['clusters', 'Clusters', ClustersView, ClusterView],
  ['graphs', 'Graphs', GraphsView, GraphView],
  ['packages', 'Packages', PackagesView, PackageView],
  ['tags', 'Tags', TagsView],
  ['audit', 'Audit', AuditView],
];

const COMPARE: PageOf = ['compare', 'Compare two runs', CompareView];

function Page() {
  const [refused, setRefused] = useState<SignInAsked['detail'] | null>(null);
  useEffect(() => {
    const asked = (event: SignInAsked): void => setRefused(event.detail);
    addEventListener('sitewright:login', asked);
    return () => removeEventListener('sitewright:login', asked);
  }, []);
  const [, name = ''] = place.value.path.split('/');
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [place.value]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <nav aria-label="Main">
        <a class="brand" href="/">
          <img src="/assets/icon.svg" alt="" width="22" height="22" /> Sitewright
        </a>
        <div id="menu" class={isOpen ? 'open' : undefined}>
          <ul>
            {PAGES.map(([key, text]) => (
              <li key={key}>
                <a href={`/${key}`} aria-current={key === name ? 'page' : undefined}>
                  {text}
                </a>
              </li>
            ))}
          </ul>
          <Operator />
        </div>
        <News />
        <button
          type="button"
          class="find"
          aria-label="Go to …"
          aria-keyshortcuts="Control+K"
          title="Go to … (Ctrl+K)"
          onClick={() => {
            paletteOpen.value = 'goals';
          }}
        >
          ⌕
        </button>
        <button type="button" class="menu" aria-expanded={isOpen} aria-controls="menu" onClick={() => setOpen(!isOpen)}>
          Menu
        </button>
      </nav>
      {refused === null && <Palette pages={PAGES} />}
      <main id="main" tabindex={-1}>
        <Stale />
        {refused === null ? <Shown name={name} /> : <SignIn refused={refused} />}
      </main>
      <div class="notice" role="status" aria-live="polite">
        {notice}
      </div>
    </>
  );
}

/** The view of the address. */
function Shown({ name }: { readonly name: string }) {
  const { path, query } = place.value;
  const id = path.split('/')[2];
  const [, , List, One] = [...PAGES, COMPARE].find(([key]) => key === name) ?? [];
  if (id !== undefined && One !== undefined) return <One key={path} id={decodeURIComponent(id)} query={query} />;
  if (List !== undefined && id === undefined) return <List key={name} query={query} />;
  return (
    <>
      <Title of="Page not found" />
      <p>
        There is nothing at <code>{path}</code>. Choose a page above, or go to the <a href="/sites">sites</a>.
      </p>
    </>
  );
}

/** Whether news come. */
function News() {
  const stale = staleSince.value !== null;
  return (
    <span class={stale ? 'news away' : 'news'} title={stale ? 'Data may be out of date' : 'The page updates itself'}>
      {stale ? 'stale' : 'live'}
    </span>
  );
}

/** Who acts, and how the page looks. */
function Operator() {
  const leave = async () => {
    // If the session has ended already, that is the goal.
    await send('DELETE /session').catch(() => undefined);
    location.assign('/');
  };
  return (
    <div class="operator">
      <ThemeSwitch />
      {hasToken() ? (
        <>
          <span>
            {actorName()} <span class="tag">{me.value?.role}</span>
          </span>
          <button type="button" onClick={() => void leave()}>
            Sign out
          </button>
        </>
      ) : (
        <label>
          <span>You are</span>{' '}
          <input
            value={operator.name}
            onChange={(event) => {
              operator.name = event.currentTarget.value.trim();
            }}
            placeholder="your name"
            autocomplete="off"
            size={10}
          />
        </label>
      )}
      <a href="/docs/">Docs</a>
    </div>
  );
}

/** While there is no news: since when, why, and that nothing has to be done. */
function Stale() {
  const [away, slow, silent] = [awaySince.value, slowRequest.value, silentSince.value];
  const at = (away ?? slow?.at ?? silent?.at)?.toLocaleTimeString();
  if (at === undefined) return null;
  return (
    <p class="banner" role="status">
      {away ? (
        `The API has not answered since ${at}. The page shows the state of that time and updates once the API is back.`
      ) : slow ? (
        <>
          The API has had a request since {at} and has not answered yet: <code>{slow.path}</code>. Nothing needs to be
          done; it may be busy.
        </>
      ) : (
        `No news since ${at}: ${silent?.problem.detail} ${silent?.problem.hint ?? ''} The page shows the state of that time and updates itself later.`
      )}
    </p>
  );
}

const FAILURES: Readonly<Record<SignInFailure, string>> = {
  'provider-away': 'The provider does not answer. Try again later, or use a token.',
  refused: 'The provider did not confirm who you are. Try again.',
  expired: 'Signing in took too long, or this browser blocks cookies. Try again.',
  'no-name': 'The provider did not identify you. Ask an admin.',
  'no-role': 'You have no access: none of your groups has a role here. Ask an admin.',
};

/** Asks who it is once the API asked for it: by the provider if there is one, or by a token. */
function SignIn({ refused }: { readonly refused: SignInAsked['detail'] }) {
  const [login, setLogin] = useState<string | null>(null);
  const [problem, setProblem] = useState<Refusal | undefined>(refused.ended ? refused : undefined);
  useEffect(() => {
    void get(at('GET /session')).then(
      ({ openid }) => setLogin(openid),
      () => undefined,
    );
  }, []);
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const token = new FormData(form).getAll('token').filter(isText).join('').trim();
    try {
      await send('POST /session', { body: { token } });
      location.reload();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  const failed = new URLSearchParams(location.search).get('sign_in');
  const failure = failed !== null && failed in FAILURES ? FAILURES[failed as SignInFailure] : undefined;
  const here = failure === undefined ? location.pathname + location.search : '/';
  return (
    <>
      <Title of="Sign in" />
      {failure !== undefined && <p role="alert">{failure}</p>}
      {login !== null && (
        <p>
          <a class="button main" href={`${login}?return_to=${encodeURIComponent(here)}`}>
            Sign in with your organization
          </a>
        </p>
      )}
      <form class="login" onSubmit={submitted(submit)}>
        {problem === undefined ? (
          <>
            <p>{login === null ? 'This API requires a token.' : 'Or use a token.'} An admin creates one with:</p>
            <pre>sitewright token create --name NAME --role operator</pre>
            {isOnThisMachine() && (
              <p>
                If you started it with ‘sitewright up’, open the link that it printed; its token is in
                .sitewright/token.
              </p>
            )}
          </>
        ) : (
          <Problem of={{ ...problem, hint: 'It may be mistyped, expired or revoked. Ask an admin for another.' }} />
        )}
        <label class="field">
          <span>Token</span>
          <input type="password" name="token" required autocomplete="off" autofocus />
        </label>
        <p class="quiet">It is kept until you close the browser, out of reach of scripts, and sent to this API only.</p>
        <div class="actions">
          <button class="main" type="submit">
            Sign in
          </button>
        </div>
      </form>
    </>
  );
}

await signInByLink();
const root = document.getElementById('page') ?? document.body;
root.textContent = '';
render(<Page />, root);
followLinks(document.body);
watchLists();
obeyShortcuts();
void learnWhoWeAre();
