import { useRef, useState } from 'preact/hooks';
import { shownMoment } from '../kit/clock.ts';
import { Pages } from '../kit/parts.tsx';
import { shortNames } from '../kit/short-names.ts';
import { type Look, lasting, lookOf, msOf, said, timeOf } from '../kit/words.ts';

/** Lines that are shown together. */
export const LINES_A_PAGE = 60;
/** The shortest time that fills the width. */
const MIN_MS = 1_000;
const DRAG_PX = 6;
const KEYS: Readonly<Record<string, number>> = { ArrowLeft: -0.25, ArrowRight: 0.25 };

/** On so few lines, bars of the same time have a full height each. */
const ROOMY = 12;
/** Room for a few letters in a bar. */
const NAMED_PX = 44;

/** Of phones. */
const NARROW_PX = 700;

/** Room for the time at a tick. */
const TICK_PX = 150;

/** Steps of the axis, in seconds. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];

/** A line: a node, by its key and its name; those of a group follow each other. */
export interface Line {
  readonly key: string;
  readonly name: string;
  readonly group?: string | undefined;
}

/** What a bar shows, on the line of that key. */
export interface BarOf {
  readonly line: string;
  readonly label: string;
  readonly status: string;
  /** Default: that of its status. */
  readonly look?: Look | 'ok first' | undefined;
  /** Written in it. */
  readonly name?: string | undefined;
  /** Absent before it starts. */
  readonly from: string | null | undefined;
  readonly to: string | null | undefined;
  /** Since when it could have started: it waited. */
  readonly since?: string | null | undefined;
  /** The seconds that it takes, as earlier runs tell. */
  readonly usual?: number | undefined;
  readonly href?: string;
  readonly isCritical?: boolean;
}

interface Bar extends BarOf {
  readonly begin: number;
  readonly end: number;
  /** When it would end if it took as long as usual. */
  readonly ghost?: number | undefined;
}

interface Dragged {
  readonly from: number;
  readonly to: number;
  readonly x: number;
}

interface TimelineProps {
  /** All of them; those of the page are shown. */
  readonly lines: readonly Line[];
  /** At least all of the lines of the page. */
  readonly bars: readonly BarOf[];
  readonly page: number;
  readonly onPage: (page: number) => void;
  readonly from: string;
  readonly until: string | null;
  /** Times as they are shown, where they are no clock times: counted from midnight of UTC. */
  readonly timeText?: (moment: string | number) => string;
}

/** The lines of a page. */
export const linesOn = (lines: readonly Line[], page: number): readonly Line[] =>
  lines.slice(page * LINES_A_PAGE, (page + 1) * LINES_A_PAGE);

/** Bars in time, a line for each node; also while they still run. Dragging over it zooms to that time. */
export function Timeline({ lines, bars: given, page, onPage, from, until, timeText }: TimelineProps) {
  const shownTime = timeText ?? timeOf;
  const [range, setRange] = useState<readonly [start: number, end: number]>();
  const [dragged, setDragged] = useState<Dragged>();
  const track = useRef<HTMLDivElement>(null);
  const last = until === null ? shownMoment.value : msOf(until);
  const bars = given.flatMap((one): Bar[] => (one.from ? [{ ...one, ...timesOf(one, msOf(one.from), last) }] : []));
  if (bars.length === 0 && lines.length <= LINES_A_PAGE) return <p class="quiet">Nothing has started yet.</p>;
  const first = bars.reduce((least, { begin }) => Math.min(least, begin), msOf(from));
  // Of one page as of another: they are compared.
  const latest = bars.reduce(
    (most, { to, end, ghost = end }) => Math.max(most, to ? end : ghost),
    Math.max(last, msOf(from) + 1000),
  );
  const [start, end] = range ?? [first, latest];
  const byLine = Map.groupBy(bars, ({ line }) => line);
  const shown = linesOn(lines, page);
  const names = shortNames(
    lines.map(({ name }) => name),
    innerWidth > NARROW_PX ? 16 : 10,
  );
  const at = (time: number): number => (100 * (time - start)) / (end - start);
  const ticks = ticksOf(start, end, Math.max(2, Math.floor(innerWidth / TICK_PX)), timeText).filter(
    // The last one would have no room for its text.
    (tick) => at(tick.at) < 96,
  );
  /** Moves to another range of time, within the limits and not below the minimum. */
  const look = (wanted: number, to: number): void => {
    const length = Math.max(MIN_MS, Math.min(to - wanted, latest - first));
    const begin = Math.max(first, Math.min(wanted, latest - length));
    setRange(length >= latest - first ? undefined : [begin, begin + length]);
  };
  const zoom = (by: number): void => {
    const [middle, half] = [(start + end) / 2, ((end - start) * by) / 2];
    look(middle - half, middle + half);
  };
  const move = (by: number): void => look(start + (end - start) * by, end + (end - start) * by);
  const timeAt = (event: PointerEvent): number => {
    const { left, width } = track.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
    return start + ((end - start) * Math.max(0, Math.min(width, event.clientX - left))) / width;
  };
  const drag = {
    onPointerDown: (event: PointerEvent) => {
      if (event.button === 0 && track.current !== null && event.clientX > track.current.getBoundingClientRect().left)
        setDragged({ from: timeAt(event), to: timeAt(event), x: event.clientX });
    },
    onPointerMove: (event: PointerEvent) => dragged && setDragged({ ...dragged, to: timeAt(event) }),
    onPointerUp: (event: PointerEvent) => {
      if (dragged === undefined) return;
      setDragged(undefined);
      const to = timeAt(event);
      // Less is a click on a bar.
      if (Math.abs(event.clientX - dragged.x) > DRAG_PX) look(Math.min(dragged.from, to), Math.max(dragged.from, to));
    },
    onPointerLeave: () => setDragged(undefined),
    onDragStart: (event: DragEvent) => event.preventDefault(),
    onKeyDown: ({ key }: KeyboardEvent) => {
      const by = KEYS[key];
      if (by !== undefined && range !== undefined) move(by);
    },
  };
  const looks = new Map(bars.map((one) => [one.status, one.look ?? lookOf(one.status)]));
  const [hasGhosts, waits] = [bars.some(({ usual }) => usual !== undefined), bars.some(({ since }) => since)];
  const trackPx = Math.max(200, innerWidth - 190);
  return (
    <>
      <div class="filters">
        <span class="quiet">
          {shownTime(start)} – {shownTime(end)}
        </span>
        <ul class="legend" aria-label="Colours">
          {[...looks].map(([status, look]) => (
            <li key={status}>
              <span class={`swatch ${look}`}></span>
              {said(status)}
            </li>
          ))}
          {waits && (
            <li>
              <span class="swatch since"></span>it could have started
            </li>
          )}
          {hasGhosts && (
            <li>
              <span class="swatch ghost"></span>as long as usual
            </li>
          )}
        </ul>
        <span class="actions">
          <button type="button" aria-label="Zoom out" disabled={range === undefined} onClick={() => zoom(2)}>
            −
          </button>
          <button type="button" aria-label="Zoom in" disabled={end - start <= MIN_MS} onClick={() => zoom(0.5)}>
            +
          </button>
          <button type="button" disabled={range === undefined} onClick={() => setRange(undefined)}>
            Reset zoom
          </button>
        </span>
        <Pages page={page} size={LINES_A_PAGE} of={lines.length} onPage={onPage} />
      </div>
      <div class="timeline" role="region" aria-label="Timeline" tabindex={0} {...drag}>
        <div class="rows">
          <div class="line axis" aria-hidden="true">
            <span class="name"></span>
            <div class="track" ref={track}>
              {dragged !== undefined && (
                <span
                  class="range"
                  style={{
                    left: `${at(Math.min(dragged.from, dragged.to))}%`,
                    width: `${Math.abs(at(dragged.to) - at(dragged.from))}%`,
                  }}
                ></span>
              )}
              {ticks.map((tick) => (
                <span key={tick.at} class="tick" style={{ left: `${at(tick.at)}%` }}>
                  {tick.text}
                </span>
              ))}
            </div>
          </div>
          {shown.map(({ key, name, group }, index) => {
            const placed = inLanes(byLine.get(key) ?? []);
            const lanes = placed[0]?.lanes ?? 1;
            return (
              <>
                {group !== undefined && group !== shown[index - 1]?.group && (
                  <h3 class="line" key={`group ${group}`}>
                    {group}
                  </h3>
                )}
                <div class="line" key={key}>
                  <span class="name" title={name}>
                    {names.get(name)}
                  </span>
                  <div
                    class="track"
                    role="list"
                    aria-label={`Node ${name}`}
                    style={shown.length <= ROOMY && lanes > 1 ? { height: `${16 * lanes}px` } : undefined}
                  >
                    {placed
                      .filter(({ bar }) => bar.end >= start && bar.begin <= end)
                      .map((one) => (
                        <Shown
                          key={one.bar.label}
                          {...one}
                          shownTime={shownTime}
                          at={at}
                          room={lanes === 1 || shown.length <= ROOMY ? trackPx : 0}
                        />
                      ))}
                  </div>
                </div>
              </>
            );
          })}
        </div>
      </div>
    </>
  );
}

interface InLane {
  readonly bar: Bar;
  readonly lane: number;
  /** How many the line has. */
  readonly lanes: number;
}

/** More would be too thin to be seen. */
const MOST_LANES = 4;

/** Bars of the same time below each other, so that none hides another. */
function inLanes(bars: readonly Bar[]): InLane[] {
  const lasts: Bar[] = [];
  const placed = bars
    .toSorted((a, b) => a.begin - b.begin)
    .map((bar) => {
      const free = lasts.findIndex(({ begin, end }) => end <= bar.begin && begin < bar.begin);
      const lane = free === -1 ? lasts.length : free;
      lasts[lane] = bar;
      return { bar, lane: lane % MOST_LANES };
    });
  const lanes = Math.min(lasts.length, MOST_LANES);
  return placed.map((one) => ({ ...one, lanes }));
}

/** When a bar ends, or would end; one that goes on ends now. */
function timesOf({ to, usual }: BarOf, begin: number, last: number) {
  const end = to ? msOf(to) : Math.max(begin, last);
  return { begin, end, ghost: usual === undefined ? undefined : begin + usual * 1000 };
}

interface ShownProps extends InLane {
  readonly shownTime: (moment: string | number) => string;
  /** Where a time is, in percent. */
  readonly at: (time: number) => number;
  /** Pixels of the whole width; none where names have no room. */
  readonly room: number;
}

/** The table has the same links for the keyboard: a thousand bars would be too many tab stops. */
function Shown({ bar, lane, lanes, at, room, shownTime }: ShownProps) {
  const usual = bar.usual === undefined ? '' : `, usually ${lasting(0, bar.usual * 1000)}`;
  const text = `${bar.label}: ${said(bar.status)}, ${shownTime(bar.begin)} – ${bar.to ? shownTime(bar.to) : 'now'}${usual}`;
  const place = (from: number, to: number, least: number) => {
    const [left, right] = [Math.max(0, at(from)), Math.min(100, at(to))];
    return {
      left: `${left}%`,
      width: `${Math.max(right - left, least)}%`,
      top: `${(100 * lane) / lanes}%`,
      height: `${100 / lanes}%`,
    };
  };
  const look = {
    class: `span ${bar.look ?? lookOf(bar.status)}${bar.isCritical ? ' critical' : ''}`,
    style: place(bar.begin, bar.end, 0.15),
    title: text,
  };
  const px = (room * (Math.min(100, at(bar.end)) - Math.max(0, at(bar.begin)))) / 100;
  const name = px > NAMED_PX ? bar.name : undefined;
  return (
    <span role="listitem" aria-label={text}>
      {bar.since && <span class="since" style={place(msOf(bar.since), bar.begin, 0)}></span>}
      {bar.href === undefined ? (
        <span {...look}>{name}</span>
      ) : (
        <a href={bar.href} data-stay tabindex={-1} aria-hidden="true" {...look}>
          {name}
        </a>
      )}
      {bar.ghost !== undefined && <span class="ghost" style={place(bar.begin, bar.ghost, 0.15)}></span>}
    </span>
  );
}

/** About this many ticks between start and end, at round times. */
function ticksOf(
  start: number,
  end: number,
  wanted: number,
  timeText?: (moment: number) => string,
): { readonly at: number; readonly text: string }[] {
  const seconds = (end - start) / 1000;
  const step = (STEPS.find((one) => seconds / one <= wanted) ?? 7 * 86_400) * 1000;
  const zone = timeText === undefined ? new Date(start).getTimezoneOffset() * 60_000 : 0;
  const ticks: { readonly at: number; readonly text: string }[] = [];
  for (let at = Math.ceil((start - zone) / step) * step + zone; at <= end; at += step)
    ticks.push({ at, text: timeText === undefined ? clockOf(at, step) : timeText(at) });
  return ticks;
}

function clockOf(at: number, step: number): string {
  if (step >= 86_400_000) return new Date(at).toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
  return new Date(at).toLocaleTimeString(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    ...(step < 60_000 ? { second: '2-digit' } : {}),
  });
}
