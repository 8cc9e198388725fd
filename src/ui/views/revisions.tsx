import { structuredPatch } from 'diff';
import { Fragment } from 'preact';
import { useMemo } from 'preact/hooks';
import { type Answer, at } from '../kit/api.ts';
import { Choice, type Option } from '../kit/ask.tsx';
import { Fold, Loaded } from '../kit/parts.tsx';
import { filterBy } from '../kit/router.ts';
import { useData } from '../kit/store.ts';
import { webLink } from '../kit/web-link.ts';
import { count } from '../kit/words.ts';

interface DocumentsProps {
  readonly site: string;
  readonly newest: number;
  readonly query: URLSearchParams;
}

/** Documents of a revision, or their changes since another; the address has which. */
export function Documents({ site, newest, query }: DocumentsProps) {
  const shown = query.get('revision') ?? String(newest);
  const since = query.get('since') ?? '';
  const params = { site, ref: shown };
  const files = useData(at('GET /sites/:site/revisions/:ref/files', { params }));
  const earlier = useData(
    since === '' ? null : at('GET /sites/:site/revisions/:ref/files', { params: { site, ref: since } }),
  );
  const meaning = useData(
    since === '' ? null : at('GET /sites/:site/revisions/:ref/difference', { params, query: { since } }),
  );
  const numbers = Array.from({ length: newest }, (_, at) => String(newest - at));
  const options = numbers.map((one): Option => [one, `revision ${one}`]);
  return (
    <>
      <div class="filters">
        <Choice label="Show" value={shown} options={options} onChange={(value) => filterBy({ revision: value })} />
        <Choice
          label="Compare with"
          value={since}
          options={[['', 'none'], ...options.filter(([one]) => one !== shown)]}
          onChange={(value) => filterBy({ since: value })}
        />
      </div>
      {meaning.data && <Meaning of={meaning.data} />}
      <Loaded from={files}>
        {({ files: all }) =>
          since === '' ? (
            all.map((one) => (
              <Fold key={one.name} label={one.name} open={all.length === 1}>
                {() => (
                  <pre tabindex={0} aria-label={one.name}>
                    {one.text}
                  </pre>
                )}
              </Fold>
            ))
          ) : (
            <Loaded from={earlier}>{(before) => <Differences before={before.files} after={all} />}</Loaded>
          )
        }
      </Loaded>
    </>
  );
}

/** The meaning of a change: nodes, groups and checks, not lines. */
function Meaning({ of }: { readonly of: Answer<'GET /sites/:site/revisions/:ref/difference'> }) {
  const all = [
    ...of.nodes.map((one) => ({ ...one, kind: 'node' })),
    ...of.groups.map((one) => ({ ...one, kind: 'group' })),
    ...of.checks.map((one) => ({ ...one, kind: 'check' })),
  ];
  return (
    <>
      <p class="facts">
        {all.length === 0 ? 'No node, group or check changes' : count(all.length, 'change')};{' '}
        {count(of.unchanged_nodes, 'node')} unchanged.
      </p>
      <ul class="plain">
        {all.slice(0, 50).map((one) => (
          <li key={`${one.kind} ${one.name}`}>
            {one.kind} <strong>{one.name}</strong> {one.change} <span class="quiet">{one.fields.join(', ')}</span>
          </li>
        ))}
        {all.length > 50 && <li>and {all.length - 50} more</li>}
      </ul>
    </>
  );
}

type Files = Answer<'GET /sites/:site/revisions/:ref/files'>['files'];

/** The changed lines of the changed files. */
export function Differences({ before, after }: { readonly before: Files; readonly after: Files }) {
  const changed = useMemo(() => {
    const textsOf = (files: Files) => new Map(files.map((one) => [one.name, one.text]));
    const [old, now] = [textsOf(before), textsOf(after)];
    return [...new Set([...old.keys(), ...now.keys()])]
      .filter((name) => old.get(name) !== now.get(name))
      .map((name) => ({
        name,
        note: old.has(name) ? (now.has(name) ? '' : ' (removed)') : ' (new)',
        hunks: structuredPatch(name, name, old.get(name) ?? '', now.get(name) ?? '').hunks,
      }));
  }, [before, after]);
  if (changed.length === 0) return <p class="quiet">The documents are the same.</p>;
  return changed.map(({ name, note, hunks }) => (
    <Fragment key={name}>
      <h3>
        {name}
        {note}
      </h3>
      <pre class="difference" tabindex={0} aria-label={`Changes in ${name}`}>
        {hunks.map(({ oldStart, newStart, lines }) => (
          <>
            <span class="hunk">{`@@ line ${oldStart} → ${newStart}`}</span>
            {lines.map((line) => (
              <span class={LINES[line.charAt(0)]}>{line}</span>
            ))}
          </>
        ))}
      </pre>
    </Fragment>
  ));
}

const LINES: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed' };

interface CommitProps {
  readonly id: string | null | undefined;
  readonly url: string | null | undefined;
}

/** The commit that a revision was taken from. */
export function Commit({ id, url }: CommitProps) {
  if (id === null || id === undefined) return null;
  const page = webLink(url);
  const text = id.slice(0, 10);
  return page === undefined ? (
    text
  ) : (
    <a href={page} rel="noreferrer">
      {text}
    </a>
  );
}
