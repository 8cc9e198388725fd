// What logs of tasks and of runs have in common, and the task whose log is shown, in the address of the page.
import { useEffect, useRef } from 'preact/hooks';
import type { TaskOnNode } from '../../core/task-on-node.ts';
import { Choice } from '../kit/ask.tsx';

/** Names of both may contain any character, so that each has its own parameter. */
export const logOf = ({ task, node }: TaskOnNode) => ({ log: task, log_node: node });

export const NO_LOG = { log: '', log_node: '' };

/** Null if none is. */
export function shownLog(query: URLSearchParams): TaskOnNode | null {
  const [task, node] = [query.get('log'), query.get('log_node')];
  return task === null || node === null ? null : { task, node };
}

/** The link to the log of a task: `LogLink` marks it so, and the closed log gives the focus back to it. */
export const linkOf = ({ task, node }: TaskOnNode): HTMLElement | null =>
  document.querySelector(`[data-log="${CSS.escape(task)}"][data-log-node="${CSS.escape(node)}"]`);

/** So near its end a log goes on by itself; further up someone is reading. */
const NEAR_END = 40;

/** Keeps the end of a log in sight as its `text` grows, unless someone reads further up. `props` are those of its element. */
export function useFollowing<Log extends HTMLElement>(text: unknown) {
  const [ref, following] = [useRef<Log>(null), useRef(true)];
  useEffect(() => {
    if (ref.current && following.current) ref.current.scrollTop = ref.current.scrollHeight;
  }, [text]);
  const onScroll = ({ currentTarget: log }: { readonly currentTarget: Log }): void => {
    following.current = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END;
  };
  return { following, props: { ref, tabIndex: 0, onScroll } };
}

interface StreamProps {
  readonly value: string;
  readonly onChange: (stream: string) => void;
}

export const StreamChoice = ({ value, onChange }: StreamProps) => (
  <Choice
    label="Stream"
    value={value}
    options={[
      ['', 'all'],
      ['stdout', 'output'],
      ['stderr', 'errors'],
    ]}
    onChange={onChange}
  />
);
