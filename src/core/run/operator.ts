/** What an operator may do to any run. */
export const RUN_ACTIONS = ['pause', 'resume', 'stop', 'cancel'] as const;
/** And to a run on a site. */
export const SITE_RUN_ACTIONS = [...RUN_ACTIONS, 'retry_node'] as const;
/** And to a run of graphs. */
export const GRAPH_RUN_ACTIONS = [...RUN_ACTIONS, 'retry_task', 'skip_task'] as const;

export type RunAction = (typeof RUN_ACTIONS)[number];
export type SiteRunAction = (typeof SITE_RUN_ACTIONS)[number];
export type GraphRunAction = (typeof GRAPH_RUN_ACTIONS)[number];

/** Who asked for something, and why; every field is optional. */
export interface OperatorNote {
  readonly reason?: string;
  readonly by?: string;
}

/** Something an operator did to a run, as its report keeps it. */
export interface OperatorAction<Action extends string> extends OperatorNote {
  readonly action: Action;
  readonly at: string;
}

export interface SiteOperatorAction extends OperatorAction<SiteRunAction> {
  readonly node?: string;
}

export interface GraphOperatorAction extends OperatorAction<GraphRunAction> {
  /** `task@node`. */
  readonly task?: string;
}

/** Since when, by whom and why a run is paused. */
export interface Paused extends OperatorNote {
  readonly since: string;
}

/** Reads a note. Operators send them from anywhere, so a payload of another shape is read for what it is worth. */
export function readNote(raw: unknown): OperatorNote {
  if (typeof raw === 'string' && raw !== '') return { reason: raw.slice(0, 500) };
  if (typeof raw !== 'object' || raw === null) return {};
  const { reason, by } = raw as Record<string, unknown>;
  return {
    ...(typeof reason === 'string' && reason !== '' ? { reason: reason.slice(0, 500) } : {}),
    ...(typeof by === 'string' && by !== '' ? { by: by.slice(0, 200) } : {}),
  };
}
