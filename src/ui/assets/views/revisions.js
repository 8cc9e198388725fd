import { structuredPatch } from 'diff';
import { useMemo } from 'preact/hooks';
import { query as queryOf } from '../api.js';
import { Choice } from '../ask.js';
import { html } from '../html.js';
import { Fold, Loaded } from '../parts.js';
import { filterBy } from '../router.js';
import { useData } from '../store.js';
import { webLink } from '../web-link.js';
import { count } from '../words.js';

/** Documents of a revision, or their changes since another; the address has which. */
export function Documents({ base, newest, query }) {
  const shown = query.get('revision') ?? String(newest);
  const since = query.get('since') ?? '';
  const files = useData(`${base}/revisions/${shown}/files`);
  const earlier = useData(since === '' ? null : `${base}/revisions/${since}/files`);
  const meaning = useData(since === '' ? null : `${base}/revisions/${shown}/difference${queryOf({ since })}`);
  const numbers = Array.from({ length: newest }, (_, at) => String(newest - at));
  const options = numbers.map((one) => [one, `revision ${one}`]);
  return html`<div class="filters">
      <${Choice} label="Show" value=${shown} options=${options} onChange=${(value) => filterBy({ revision: value })} />
      <${Choice} label="Compare with" value=${since} options=${[['', 'none'], ...options.filter(([one]) => one !== shown)]} onChange=${(value) => filterBy({ since: value })} />
    </div>
    ${meaning.data && html`<${Meaning} of=${meaning.data} />`}
    <${Loaded} from=${files}>
      ${({ files: all }) =>
        since === ''
          ? all.map(
              (one) =>
                html`<${Fold} key=${one.name} label=${one.name} open=${all.length === 1}>${() => html`<pre tabindex="0" aria-label=${one.name}>${one.text}</pre>`}<//>`,
            )
          : html`<${Loaded} from=${earlier}>${(before) => html`<${Differences} before=${before.files} after=${all} />`}<//>`}
    <//>`;
}

/** The meaning of a change: nodes and groups, not lines. */
function Meaning({ of }) {
  const all = [
    ...of.nodes.map((one) => ({ ...one, kind: 'node' })),
    ...of.groups.map((one) => ({ ...one, kind: 'group' })),
  ];
  return html`<p class="facts">${all.length === 0 ? 'No node or group changes' : count(all.length, 'node or group', 'nodes and groups')}; ${count(of.unchanged_nodes, 'node')} unchanged.</p>
    <ul class="plain">
      ${all.slice(0, 50).map((one) => html`<li key=${`${one.kind} ${one.name}`}>${one.kind} <strong>${one.name}</strong> ${one.change} <span class="quiet">${one.fields.join(', ')}</span></li>`)}
      ${all.length > 50 && html`<li>and ${all.length - 50} more</li>`}
    </ul>`;
}

function Differences({ before, after }) {
  const changed = useMemo(() => {
    const [old, now] = [before, after].map((files) => new Map(files.map((one) => [one.name, one.text])));
    return [...new Set([...old.keys(), ...now.keys()])]
      .filter((name) => old.get(name) !== now.get(name))
      .map((name) => ({
        name,
        note: old.has(name) ? (now.has(name) ? '' : ' (removed)') : ' (new)',
        hunks: structuredPatch(name, name, old.get(name) ?? '', now.get(name) ?? '').hunks,
      }));
  }, [before, after]);
  if (changed.length === 0) return html`<p class="quiet">The documents are the same.</p>`;
  return changed.map(
    ({ name, note, hunks }) => html`<h3 key=${name}>${name}${note}</h3>
      <pre class="difference" tabindex="0" aria-label=${`Changes in ${name}`}>${hunks.map(
        ({ oldStart, newStart, lines }) =>
          html`<span class="hunk">@@ line ${oldStart} → ${newStart}\n</span>${lines.map((line) => html`<span class=${LINES[line[0]]}>${line}\n</span>`)}`,
      )}</pre>`,
  );
}

const LINES = { '+': 'added', '-': 'removed' };

/** The commit that a revision was taken from. */
export const Commit = ({ id, url }) =>
  id == null
    ? ''
    : webLink(url) === undefined
      ? id.slice(0, 10)
      : html`<a href=${webLink(url)} rel="noreferrer">${id.slice(0, 10)}</a>`;
