import { useEffect, useRef, useState } from 'preact/hooks';
import type { RunFrame } from '../../core/contracts/run-tasks.ts';
import type { LogEvent } from '../../core/contracts/runs.ts';
import type { TaskOnNode } from '../../core/task-on-node.ts';
import { MarkedOutput } from '../../core/text/marked-output.ts';
import { at, type Problem as Refusal } from '../kit/api.ts';
import { Choice, optionsOf } from '../kit/ask.tsx';
import type { Names } from '../kit/names.ts';
import { NewTab, Problem, State } from '../kit/parts.tsx';
import { filterBy } from '../kit/router.ts';
import { follow, useData } from '../kit/store.ts';
import { placeOf, said } from '../kit/words.ts';
import { linkOf, NO_LOG, StreamChoice, useFollowing } from './log-tools.tsx';
import { PartTrend } from './trend.tsx';

/** More text than this is not kept on the page; the download has all. */
const MAX = 400_000;

type Ended = Extract<LogEvent, { readonly event: 'ended' }>['data'];

/** What was printed to one stream, until the other one continues; lines of stderr start with their mark. */
interface Piece {
  readonly stream: Stream;
  readonly text: string;
}
type Stream = Extract<LogEvent, { readonly event: 'output' }>['data']['stream'];

interface Shown {
  readonly pieces: readonly Piece[];
  readonly ended: Ended | null;
  readonly problem: Refusal | undefined;
}

interface TaskLogProps {
  readonly run: RunFrame['run'];
  readonly of: TaskOnNode;
  readonly names: Names;
}

/** The live output of a task: below everything else, until it is closed. */
export function TaskLog({ run: { id, outcome, cluster, temporal_url }, of, names }: TaskLogProps) {
  const live = outcome === null;
  const [stream, setStream] = useState('');
  const [attempt, setAttempt] = useState('');
  const [round, setRound] = useState(0);
  const [state, setState] = useState<Shown>(NOTHING);
  const heading = useRef<HTMLHeadingElement>(null);
  const { following, props } = useFollowing<HTMLPreElement>(state.pieces);
  const { task, node } = of;
  const params = { run: id, node, task };
  const text = placeOf(of, names);
  // The tries of the task, and whether a new one has started since.
  const rows = useData(
    at('GET /runs/:run/tasks', { params: { run: id }, query: { nodes: node, name: task, limit: 100 } }),
    {
      every: live ? 3_000 : undefined,
    },
  );
  const asked = cluster && at('GET /clusters/:id/task-trends', { params: { id: cluster }, query: { task } });
  const [trend] = useData(asked || null).data?.tasks ?? [];
  const row = rows.data?.items.find((one) => one.task === task && one.node === node);
  const tries = row?.attempts ?? 0;
  const known = rows.data !== undefined || rows.problem !== undefined;
  useEffect(() => {
    if (!known) return undefined;
    setState(NOTHING);
    following.current = true;
    let offset: number | undefined;
    const marked = new MarkedOutput();
    return follow({
      addressOf: () => at(LOG, { params, query: { stream, attempt, offset } }),
      on: (one) => {
        if (!Number.isNaN(one.id)) offset = one.id;
        if (one.event === 'ended') return setState((before) => ({ ...before, ended: one.data }));
        const { stream: from } = one.data;
        const text =
          one.event === 'gap'
            ? `\n[${one.data.to - one.data.offset} bytes were dropped]\n`
            : stream === ''
              ? marked.add(from, one.data.text)
              : one.data.text;
        setState((before) => ({
          ...before,
          pieces: joined(before.pieces, { stream: from, text }),
          problem: undefined,
        }));
      },
      refused: (problem) => setState((before) => ({ ...before, problem })),
      live,
    });
  }, [id, node, task, stream, attempt, live, round, known, attempt === '' ? tries : 0]);
  const close = () => {
    filterBy(NO_LOG);
    // Back to where it was opened from.
    requestAnimationFrame(() => linkOf(of)?.focus());
  };
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) close();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <section class="log" aria-label={`Log of ${text}`}>
      <div class="filters">
        <h2 tabindex={-1} ref={heading}>
          Log of {text} {row && <State of={row.status} />}
        </h2>
        <StreamChoice value={stream} onChange={setStream} />
        {tries > 1 && (
          <Choice
            label="Try"
            value={attempt}
            options={[
              ['', `newest (${tries})`],
              ...optionsOf(Array.from({ length: tries - 1 }, (_, index) => String(tries - 1 - index))),
            ]}
            onChange={setAttempt}
          />
        )}
        <a
          href={at(LOG, { params, query: { stream, attempt } })}
          download={`${task}@${node}${stream === '' ? '' : `.${stream}`}.log`}
        >
          Download
        </a>
        {temporal_url !== null && tries > 0 && (
          <NewTab
            at={at('GET /runs/:run/nodes/:node/temporal', { params: { run: id, node }, query: { task, attempt } })}
          />
        )}
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      {trend && <PartTrend of={trend} />}
      <Problem of={state.problem} onRetry={() => setRound(round + 1)} />
      {state.problem === undefined && (
        <pre aria-label="Output" {...props}>
          {state.pieces.length === 0
            ? 'Nothing printed yet.'
            : state.pieces.map((piece, index) => (
                <span key={index} class={piece.stream === 'stderr' ? 'bad' : ''}>
                  {piece.text}
                </span>
              ))}
        </pre>
      )}
      {state.ended && (
        <p class="quiet">
          Ended: {said(state.ended.outcome)} {state.ended.outcome === 'success' ? '' : state.ended.message}
        </p>
      )}
    </section>
  );
}

const LOG = 'GET /runs/:run/nodes/:node/tasks/:task/log';

const NOTHING: Shown = { pieces: [], ended: null, problem: undefined };

/** The pieces with one more, without the oldest text above the limit. */
function joined(before: readonly Piece[], piece: Piece): readonly Piece[] {
  const last = before.at(-1);
  const pieces =
    last?.stream === piece.stream
      ? [...before.slice(0, -1), { ...last, text: last.text + piece.text }]
      : [...before, piece];
  let over = pieces.reduce((sum, { text }) => sum + text.length, 0) - MAX;
  return over <= 0
    ? pieces
    : pieces.flatMap(({ stream, text }) => {
        const rest = text.slice(Math.max(0, over));
        over -= text.length;
        return rest === '' ? [] : [{ stream, text: rest }];
      });
}
