// What pictures of graphs have above them.
import { useId } from 'preact/hooks';

interface FindTaskProps {
  readonly names: readonly string[];
  readonly onFind: (name: string) => void;
}

export function FindTask({ names, onFind }: FindTaskProps) {
  const id = useId();
  const find = (text: string): void => {
    if (names.includes(text)) onFind(text);
  };
  return (
    <label class="field">
      <span>Find a task</span>
      <input type="search" list={id} autocomplete="off" onInput={(event) => find(event.currentTarget.value)} />
      <datalist id={id}>
        {names.map((name) => (
          <option key={name} value={name}></option>
        ))}
      </datalist>
    </label>
  );
}

interface ZoomProps {
  readonly scale: number;
  readonly min: number;
  readonly max: number;
  readonly onScale: (scale: number) => void;
  readonly onFit: () => void;
}

export const Zoom = ({ scale, min, max, onScale, onFit }: ZoomProps) => (
  <span class="actions">
    <button
      type="button"
      aria-label="Zoom out"
      disabled={scale <= min}
      onClick={() => onScale(Math.max(min, scale / 1.4))}
    >
      −
    </button>
    <button type="button" onClick={onFit}>
      Fit
    </button>
    <button type="button" onClick={() => onScale(1)}>
      100 %
    </button>
    <button
      type="button"
      aria-label="Zoom in"
      disabled={scale >= max}
      onClick={() => onScale(Math.min(max, scale * 1.4))}
    >
      +
    </button>
  </span>
);
