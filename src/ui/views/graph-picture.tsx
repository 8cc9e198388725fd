import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Address, type Problem as Refusal, request } from '../kit/api.ts';
import { Problem, Waiting } from '../kit/parts.tsx';
import { problemOf } from '../kit/store.ts';
import { FindTask, Zoom } from './graph-tools.tsx';

const [MIN, MAX] = [0.05, 4];

/** Kinds of tasks: classes of their nodes. */
const KINDS = ['task', 'group', 'stage', 'skipped'];

interface GraphPictureProps {
  readonly address: Address<'GET /graphs/:id/graph.svg' | 'GET /clusters/:id/deploy_tasks/graph.svg'>;
  readonly onChoose?: (task: string) => void;
}

/** A graph as the server drew it. */
export function GraphPicture({ address, onChoose }: GraphPictureProps) {
  const box = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState<Refusal>();
  const [drawn, setDrawn] = useState<Drawing | null>(null);
  const [scale, setScale] = useState(1);
  const [asked, ask] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setProblem(undefined);
    draw(address, stop.signal, onChoose !== undefined).then(
      (picture) => {
        box.current?.replaceChildren(picture.svg);
        setDrawn(picture);
      },
      (error: unknown) => {
        if (!stop.signal.aborted) setProblem(problemOf(error));
      },
    );
    return () => stop.abort();
  }, [address, asked]);
  useEffect(() => {
    if (drawn === null) return;
    // Content that fits is shown whole; otherwise its beginning.
    const fitting = scaleToFit(box, drawn);
    setScale(fitting > 0.6 ? Math.min(1, fitting) : 1);
    const [first] = drawn.nodes.values();
    if (first !== undefined) requestAnimationFrame(() => centre(box, first));
  }, [drawn]);
  useEffect(() => {
    if (drawn === null) return;
    drawn.svg.setAttribute('width', String(drawn.width * scale));
    drawn.svg.setAttribute('height', String(drawn.height * scale));
  }, [drawn, scale]);
  const choose = (event: MouseEvent | KeyboardEvent): void => {
    if (event instanceof KeyboardEvent && event.key !== 'Enter') return;
    const node = event.target instanceof Element ? event.target.closest<SVGElement>('g.node') : null;
    if (node?.dataset.task !== undefined) onChoose?.(node.dataset.task);
  };
  const show = (node: SVGElement): void => {
    for (const other of drawn?.nodes.values() ?? []) other.classList.toggle('is-found', other === node);
    setScale((before) => Math.max(before, 1));
    requestAnimationFrame(() => centre(box, node));
  };
  const find = (task: string): void => {
    const node = drawn?.nodes.get(task);
    if (node !== undefined) show(node);
  };
  return (
    <>
      <Problem of={problem} onRetry={() => ask(asked + 1)} />
      {drawn === null && problem === undefined && <Waiting text="Drawing the graph" />}
      {drawn !== null && (
        <div class="filters">
          <FindTask names={[...drawn.nodes.keys()].sort()} onFind={find} />
          <Zoom scale={scale} min={MIN} max={MAX} onScale={setScale} onFit={() => setScale(scaleToFit(box, drawn))} />
          <ul class="legend" aria-label="Colours">
            {drawn.kinds.map((kind) => (
              <li key={kind}>
                <span class={`swatch kind-${kind}`}></span>
                {kind}
              </li>
            ))}
          </ul>
          <a href={address} download="graph.svg">
            Download the drawing
          </a>
        </div>
      )}
      <div
        class="picture plain"
        ref={box}
        role="region"
        aria-label="Graph"
        tabindex={0}
        onClick={choose}
        onKeyDown={choose}
      ></div>
    </>
  );
}

type Box = RefObject<HTMLDivElement | null>;

/** Scrolls the picture, not the page. */
function centre({ current: box }: Box, node: SVGElement): void {
  if (box === null) return;
  const [inner, outer] = [node.getBoundingClientRect(), box.getBoundingClientRect()];
  box.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
  box.scrollTop += inner.top + inner.height / 2 - outer.top - outer.height / 2;
}

const scaleToFit = ({ current: box }: Box, { width, height }: Drawing): number =>
  Math.max(MIN, Math.min(((box?.clientWidth ?? 0) - 24) / width, (0.7 * innerHeight) / height, 1.5));

interface Drawing {
  readonly svg: SVGElement;
  /** By the name of the task. */
  readonly nodes: ReadonlyMap<string, SVGElement>;
  readonly kinds: readonly string[];
  /** In pixels. */
  readonly width: number;
  readonly height: number;
}

/** The drawing, in which nodes may be chosen. */
async function draw(address: string, signal: AbortSignal, isChosenFrom: boolean): Promise<Drawing> {
  const text = await (await request(address, { signal, accept: 'image/svg+xml' })).text();
  const parsed = new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('svg');
  if (parsed === null) throw new Error('The drawing is not one.');
  const svg = document.importNode(parsed, true);
  const nodes = new Map<string, SVGElement>();
  const kinds = new Set<string>();
  for (const node of svg.querySelectorAll<SVGElement>('g.node')) {
    const task = node.querySelector('title')?.textContent ?? '';
    const kind = KINDS.find((one) => node.classList.contains(one)) ?? 'task';
    kinds.add(kind);
    nodes.set(task, node);
    node.dataset.task = task;
    node.setAttribute('class', `node kind-${kind}`);
    node.setAttribute('role', isChosenFrom ? 'button' : 'img');
    if (isChosenFrom) node.setAttribute('tabindex', '0');
    node.setAttribute('aria-label', task);
  }
  svg.setAttribute('role', 'group');
  const { width, height } = svg.viewBox.baseVal;
  return { svg, nodes, kinds: [...kinds], width, height };
}
