import { count, lasting, lookOf, msOf, said, timeOf } from '../words.ts';

/** What ran once, on a site, a cluster or a machine. */
export interface Past {
  readonly outcome: string | null;
  readonly from: string | null | undefined;
  readonly to: string | null | undefined;
}

/** So many are drawn, and so many are judged. */
const [DRAWN, JUDGED] = [20, 5] as const;
const [BAR, HIGH] = [8, 28] as const;
const BAD: ReadonlySet<string | null> = new Set(['failed', 'success_with_failures', 'terminated', 'timed_out']);

/** How the last ones ended and how long they took, the newest at the right. */
export function Trend({ of, what }: { readonly of: readonly Past[]; readonly what: string }) {
  const ended = of.filter(({ outcome, from, to }) => outcome !== null && from && to).slice(0, DRAWN);
  if (ended.length < 2) return null;
  const took = ended.map(({ from, to }) => msOf(to ?? 0) - msOf(from ?? 0));
  const most = Math.max(1, ...took);
  const middle = [...took].sort((a, b) => a - b)[Math.floor(took.length / 2)] ?? 0;
  const judged = ended.slice(0, JUDGED);
  const failed = judged.filter(({ outcome }) => BAD.has(outcome)).length;
  const text = `${failed === 0 ? 'None' : failed} of the last ${count(judged.length, what)} ended with failures; the median took ${lasting(0, middle)}.`;
  return (
    <figure class="trend">
      <svg width={ended.length * BAR} height={HIGH} role="img" aria-label={text}>
        {ended.map(({ outcome, from }, index) => {
          const high = Math.max(3, (HIGH * (took[index] ?? 0)) / most);
          return (
            <rect
              key={from}
              class={lookOf(outcome)}
              x={(ended.length - 1 - index) * BAR}
              y={HIGH - high}
              width={BAR - 2}
              height={high}
            >
              <title>{`${timeOf(from)}: ${said(outcome ?? '')}, ${lasting(0, took[index] ?? 0)}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption class={failed > 0 ? 'bad' : 'quiet'}>{text}</figcaption>
    </figure>
  );
}
