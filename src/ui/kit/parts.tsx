// Small parts that all views are made of.
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Cause } from '../../core/run/causes.ts';
import type { Problem as Refusal } from './api.ts';
import { addressWith, filterBy, siteAt } from './router.ts';
import { shortNames } from './short-names.ts';
import type { Loading } from './store.ts';
import { count, type Look, lookOf, lookOfNode, said, some, standingOf, stateOf } from './words.ts';

/** A state as a word with a coloured mark: never by colour alone. */
export const State = ({ of, children }: { readonly of: string; readonly children?: ComponentChildren }) => (
  <span class={`state ${lookOf(of)}`}>{children ?? said(of)}</span>
);

/** What became of a node in a run on its site. */
export const NodeStanding = ({ of }: { readonly of: Parameters<typeof stateOf>[0] }) => (
  <span class={`state ${lookOfNode(of)}`}>{stateOf(of)}</span>
);

/** The state of a run. */
export function RunState({ run }: { readonly run: Parameters<typeof standingOf>[0] }) {
  const { look, text } = standingOf(run);
  return <span class={`state ${look}`}>{text}</span>;
}

export const SiteLink = ({ of }: { readonly of: string }) => <a href={siteAt(of)}>{of}</a>;

interface NewTabProps {
  /** Null where it has no address. */
  readonly at: string | null;
  readonly children?: ComponentChildren;
}

/** A link to what is beside the page: the same thing in Temporal's own page, or as JSON. */
export const NewTab = ({ at, children = 'Show in Temporal' }: NewTabProps) =>
  at !== null && (
    <a href={at} target="_blank" rel="noreferrer">
      {children}
    </a>
  );

/** A refusal of the API, with the next step. */
export function Problem({
  of,
  onRetry,
}: {
  readonly of: Refusal | undefined;
  readonly onRetry?: (() => void) | undefined;
}) {
  if (of === undefined) return null;
  const errors = of.errors ?? [];
  // A repeated error is already shown.
  const more = errors.length > 1 || (errors[0] && errors[0].message !== of.detail) ? errors : [];
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{of.detail}</strong>
      </p>
      {of.hint && <p>{of.hint}</p>}
      {more.length > 0 && (
        <ul>
          {more.slice(0, 20).map((one) => (
            <li>
              {[one.file, one.line, one.path].filter(Boolean).join(':')} {one.message} {one.hint}
            </li>
          ))}
          {more.length > 20 && <li>and {more.length - 20} more</li>}
        </ul>
      )}
      {of.run?.id && (
        <p>
          <a href={`/runs/${of.run.id}`}>Show the conflicting run</a>
        </p>
      )}
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Retry
        </button>
      )}
    </div>
  );
}

interface Finding {
  readonly severity: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

interface FindingsProps {
  readonly label: string;
  readonly of: readonly Finding[];
  /** Whether they hinder nothing. */
  readonly isMild?: boolean;
}

/** What checks found, with the next step of each. */
export const Findings = ({ label, of, isMild = false }: FindingsProps) =>
  of.length > 0 && (
    <ul class={isMild ? 'banner plain' : 'problem plain'} aria-label={label}>
      {of.map((one) => (
        <li>
          <strong>{one.severity}</strong> {one.message} {one.hint && <span class="quiet">{one.hint}</span>}
        </li>
      ))}
    </ul>
  );

/** What is not there after this will not be there in a moment. */
const LONG_MS = 10_000;

interface WaitingProps {
  /** What for. */
  readonly text?: string;
  /** What to do meanwhile. */
  readonly meanwhile?: string;
}

/** That something is on its way; after a while, what to do about it. */
export function Waiting({ text = 'Loading', meanwhile }: WaitingProps) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), LONG_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isLong)
    return (
      <p class="quiet" role="status">
        {text} …
      </p>
    );
  return (
    <div class="problem" role="alert">
      <p>
        <strong>
          {text}: no answer for {LONG_MS / 1000} s.
        </strong>
      </p>
      <p>
        The page keeps waiting. {meanwhile && `${meanwhile} `}
        To see which service is slow or does not answer, run <code>sitewright doctor</code>.
      </p>
    </div>
  );
}

interface LoadedProps<Data> {
  readonly from: Loading<Data>;
  readonly waits?: WaitingProps;
  readonly children: (data: Data) => ComponentChildren;
}

/** Data, or why there is none. */
export function Loaded<Data>({ from, waits, children }: LoadedProps<Data>) {
  const { data, problem, loading, reload } = from;
  // An unreachable API is shown once, at the top.
  const own = problem?.code === 'away' && data !== undefined ? undefined : problem;
  return (
    <>
      <Problem of={own} onRetry={reload} />
      {data === undefined ? loading && <Waiting {...waits} /> : children(data)}
    </>
  );
}

/** Where a view lies: address and name. */
export type Crumb = readonly [href: string, text: string];

interface TitleProps {
  readonly of: string;
  readonly children?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly trail?: readonly Crumb[];
}

/** The head of a view, which also names the document. */
export function Title({ children, of, actions, trail = [] }: TitleProps) {
  useEffect(() => {
    document.title = `${of} · Sitewright`;
  }, [of]);
  return (
    <>
      {trail.length > 0 && (
        <nav class="trail" aria-label="Breadcrumb">
          {trail.map(([href, text]) => (
            <>
              <a key={href} href={href}>
                {text}
              </a>
              <span aria-hidden="true"> / </span>
            </>
          ))}
        </nav>
      )}
      <header class="title">
        <h1 tabindex={-1}>{children ?? of}</h1>
        {actions && <div class="actions">{actions}</div>}
      </header>
    </>
  );
}

interface MissingProps {
  readonly problem: Refusal;
  readonly list: Crumb;
  readonly onRetry?: () => void;
}

/** Why something is not there, or not to be had, and the way back. */
export const Missing = ({ problem, list, onRetry }: MissingProps) => (
  <>
    <Problem of={problem} onRetry={problem.status === 404 || problem.status === 400 ? undefined : onRetry} />
    <p>
      <a href={list[0]}>Show all {list[1].toLowerCase()}</a>
    </p>
  </>
);

interface OneProps<Data> {
  /** What it is called until it is there. */
  readonly of: string;
  readonly list: Crumb;
  readonly from: Loading<Data>;
  readonly title: (data: Data) => TitleProps;
  readonly children: (data: Data) => ComponentChildren;
}

/** The page of one thing; or why it is not there, and the way back. Its heading stays the same element, which has the focus. */
export function One<Data>({ of, list, from, title, children }: OneProps<Data>) {
  const { data, problem, reload } = from;
  return (
    <>
      <Title trail={[list]} {...(data === undefined ? { of } : title(data))} />
      {data !== undefined ? (
        <Loaded from={from}>{children}</Loaded>
      ) : problem === undefined ? (
        <Waiting />
      ) : (
        <Missing problem={problem} list={list} onRetry={reload} />
      )}
    </>
  );
}

/** An entry of a list of details; nothing where there is nothing to say. */
export const Detail = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) =>
  children && (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );

/** An empty list, with the next step. */
export const Empty = ({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) => (
  <div class="empty">
    <p>
      <strong>{title}</strong>
    </p>
    {children}
  </div>
);

/** Says what it has copied, or the text itself where the browser does not allow that. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied: ${text}`);
    return true;
  } catch {
    say(`The browser does not allow copying: ${text}`);
    return false;
  }
}

/** A command to type, which a button copies. */
export function Command({ text }: { readonly text: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <div class="command">
      <code>{text}</code>
      {navigator.clipboard && (
        <button type="button" aria-label={`Copy ${text}`} onClick={() => void copy(text).then(setCopied)}>
          {copied ? 'Copied' : 'Copy'}
        </button>
      )}
    </div>
  );
}

interface ProgressProps {
  readonly done: number | null;
  readonly total: number;
  readonly bad?: number;
  /** Describes the `bad` ones. */
  readonly badly?: string | undefined;
  readonly what?: string;
  readonly small?: boolean;
  /** How many have begun and not ended, by their look. */
  readonly underWay?: readonly (readonly [look: Look, n: number])[];
  /** How many are needed: a mark on the bar. */
  readonly needed?: number | undefined;
}

/** `done` of `total`, as a bar and as text. */
export const Progress = ({
  done,
  total,
  bad = 0,
  badly,
  what = 'nodes',
  small = false,
  underWay = [],
  needed,
}: ProgressProps) => (
  <div class={small ? 'progress small' : 'progress'}>
    <div class="bar" aria-hidden="true">
      <span class="ok" style={{ width: `${share((done ?? 0) - bad, total)}%` }}></span>
      {bad > 0 && <span class="bad" style={{ width: `${share(bad, total)}%` }}></span>}
      {needed !== undefined && <span class="mark" style={{ left: `calc(${share(needed, total)}% - 2px)` }}></span>}
      {underWay.map(([look, n]) => n > 0 && <span class={look} style={{ width: `${share(n, total)}%` }}></span>)}
    </div>
    <span>
      {(done ?? 0).toLocaleString()} / {total.toLocaleString()} {what}
      <Bad n={bad}>{badly}</Bad>
    </span>
  </div>
);

/** After a number of things: how many of them are bad, if any. */
export const Bad = ({ n, children }: { readonly n: number; readonly children?: ComponentChildren }) =>
  n > 0 && (
    <>
      , <span class="bad">{children ?? `${n} failed`}</span>
    </>
  );

/** More causes are in the table. */
const CAUSES = 6;

/** Why things failed: each cause once, with its fix. */
export const Causes = ({ of, what }: { readonly of: readonly Cause[]; readonly what: string }) =>
  of.length > 0 && (
    <section class="problem causes" aria-label="Causes">
      {of.slice(0, CAUSES).map(({ reason, hint, names }) => (
        <p key={reason}>
          <strong>
            {count(names.length, what)}: {reason}
          </strong>{' '}
          {hint} <span class="quiet">{some(names)}</span>
        </p>
      ))}
      {of.length > CAUSES && <p class="quiet">and {count(of.length - CAUSES, 'more cause')}: see the reasons below</p>}
    </section>
  );

const share = (part: number, whole: number): number => (whole === 0 ? 0 : (100 * part) / whole);

/** A view of a thing: its key in the address, and its name. */
export type View = readonly [key: string, text: string];

interface TabsProps {
  /** The first is shown where none is named. */
  readonly views: readonly View[];
  readonly current: string;
  /** Fields of the address that belong to one of them. */
  readonly clears?: Readonly<Record<string, ''>>;
}

/** Views of one thing, in the address. */
export function Tabs({ views, current, clears = {} }: TabsProps) {
  const addressOf = (key: string) => addressWith({ ...clears, view: key === views[0]?.[0] ? '' : key });
  return (
    <nav class="tabs" aria-label="Views">
      {views.map(([key, text]) => (
        <a key={key} href={addressOf(key)} data-stay aria-current={key === current ? 'true' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}

/** Few enough for their names to be read. */
const NAMED = 48;
/** Room for a name in the narrowest of them. */
const LETTERS = 12;

interface Cell {
  readonly key: string;
  readonly name: string;
  readonly look: Look;
  readonly note: string;
  /** All of it in words. */
  readonly text: string;
}

interface CellsProps {
  readonly cells: readonly Cell[];
  /** How many of them failed, in words; empty: none. */
  readonly failed: string;
  readonly chosen: string;
}

/** A cell for each node of a run: a thousand of them at a glance; with names if they are few. A click is in the address. */
export function NodeCells({ cells, failed, chosen }: CellsProps) {
  const isNamed = cells.length <= NAMED;
  const names = shortNames(isNamed ? cells.map(({ name }) => name) : [], LETTERS);
  return (
    <>
      <p class="facts">
        {count(cells.length, 'node')}
        <Bad n={failed.length}>{failed}</Bad>
      </p>
      {cells.length > 0 && (
        <div class={isNamed ? 'grid named' : 'grid'} role="group" aria-label="Nodes at a glance">
          {cells.map(({ key, name, look, note, text }) => (
            <button
              type="button"
              key={key}
              class={`cell ${look}`}
              title={text}
              aria-label={isNamed && names.get(name) === name ? undefined : text}
              aria-pressed={chosen === name || chosen === key}
              onClick={() => filterBy({ node: chosen === key ? '' : key, before: '', page: '' })}
            >
              {isNamed && (
                <>
                  <span class="name">{names.get(name)}</span>
                  <span class="note">{note}</span>
                </>
              )}
            </button>
          ))}
        </div>
      )}
    </>
  );
}

interface CountsProps<S extends string> {
  readonly label: string;
  readonly counts: readonly (readonly [state: S, n: number])[];
  readonly chosen: string;
  readonly onChoose: (state: S | '') => void;
  readonly look?: (state: S) => Look;
}

/** How many there are of each state; a click shows only those. */
export const Counts = <S extends string>({ label, counts, chosen, onChoose, look = lookOf }: CountsProps<S>) => (
  <div class="counts" role="group" aria-label={label}>
    {counts
      .filter(([state, n]) => n > 0 || state === chosen)
      .map(([state, n]) => (
        <button
          type="button"
          key={state}
          class={`state ${look(state)}`}
          aria-pressed={chosen === state}
          onClick={() => onChoose(chosen === state ? '' : state)}
        >
          {n.toLocaleString()} {said(state)}
        </button>
      ))}
  </div>
);

/** Said aloud by readers of the screen, and shown for a while. */
export const notice = signal('');

let clearing: number | undefined;
export function say(text: string): void {
  notice.value = text;
  clearTimeout(clearing);
  clearing = setTimeout(() => {
    notice.value = '';
  }, 8_000);
}

interface FoldProps {
  readonly label: string;
  readonly open?: boolean;
  readonly children: () => ComponentChildren;
}

/** A section that is closed at first; its content is made when it is opened. */
export function Fold({ label, open = false, children }: FoldProps) {
  const [isOpen, setOpen] = useState(open);
  return (
    <details
      open={isOpen}
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary>{label}</summary>
      {isOpen && children()}
    </details>
  );
}

interface PagesProps {
  readonly page: number;
  readonly size: number;
  readonly of: number;
  /** Default: it is in the address. */
  readonly onPage?: (page: number) => void;
}

/** Buttons to page through a list of nodes that is all here. */
export const Pages = ({ page, size, of, onPage = (to) => filterBy({ page: to || '' }) }: PagesProps) =>
  of > size && (
    <nav class="pages" aria-label="Pages">
      <button type="button" disabled={page === 0} onClick={() => onPage(page - 1)}>
        Previous
      </button>
      <span>
        {page * size + 1}–{Math.min((page + 1) * size, of)} of {count(of, 'node')}
      </span>
      <button type="button" disabled={(page + 1) * size >= of} onClick={() => onPage(page + 1)}>
        Next
      </button>
    </nav>
  );

interface OlderProps {
  readonly before: string;
  readonly next: string | null;
  readonly back?: string;
  readonly on?: string;
}

/** Buttons to page through a list that the API cuts; where the page begins is in the address. */
export const Older = ({ before, next, back = 'Newest', on = 'Older' }: OlderProps) =>
  (before !== '' || next !== null) && (
    <nav class="pages" aria-label="Pages">
      {before !== '' && (
        <button type="button" onClick={() => filterBy({ before: '' })}>
          {back}
        </button>
      )}
      {next !== null && (
        <button type="button" onClick={() => filterBy({ before: next })}>
          {on}
        </button>
      )}
    </nav>
  );
