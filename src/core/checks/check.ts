import * as z from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { number, optional, text } from '../data/schema.ts';
import { secondsIn } from '../rollout/policy.ts';

/** A value of a check: text as it stands, or an expression that is evaluated for each node. */
export type CheckText = string | { readonly yaql_exp: string };

/** When the value of a query is good. */
export type Condition =
  | { readonly above: number }
  | { readonly below: number }
  | { readonly between: readonly [least: number, most: number] };

/** What a check asks. */
export type Probe =
  | { readonly kind: 'http'; readonly url: CheckText; readonly status: number; readonly contains?: CheckText }
  | { readonly kind: 'tcp'; readonly host: CheckText; readonly port: number }
  | { readonly kind: 'prometheus'; readonly url: CheckText; readonly query: CheckText; readonly is: Condition }
  /** A script, which is well with exit code 0. */
  | { readonly kind: 'command'; readonly cmd: CheckText }
  /** Well on a node, if nothing of it failed there. */
  | { readonly kind: 'graph'; readonly type: string };

/** Who asks, through its agent: each node about itself, or another one of its rack. */
export const ASKING_NODES = ['node', 'neighbour'] as const;
export type AskingNode = (typeof ASKING_NODES)[number];

/** A check, with what holds where its document says nothing. All times are seconds. */
export interface Check {
  readonly name: string;
  readonly probe: Probe;
  /** Absent: a worker asks. */
  readonly from?: AskingNode;
  /** A service that starts may take so long until its first good answer. */
  readonly within: number;
  readonly every: number;
  /** So many answers in a row that are not good end the check, once `within` is over. */
  readonly failures: number;
  /** How long one answer may take. */
  readonly timeout: number;
}

/** `data` of a document, as people write it. src/documents has checked it. */
export interface WrittenCheck {
  readonly from?: 'worker' | AskingNode | undefined;
  readonly http?:
    | {
        readonly url: CheckText;
        readonly status?: number | undefined;
        readonly contains?: CheckText | undefined;
      }
    | undefined;
  readonly tcp?: { readonly host: CheckText; readonly port: number } | undefined;
  readonly prometheus?:
    | { readonly url: CheckText; readonly query: CheckText; readonly is: WrittenCondition }
    | undefined;
  readonly command?: { readonly cmd: CheckText } | undefined;
  readonly graph?: { readonly type: string } | undefined;
  readonly within?: string | undefined;
  readonly every?: string | undefined;
  readonly failures?: number | undefined;
  readonly timeout?: string | undefined;
}

interface WrittenCondition {
  readonly above?: number | undefined;
  readonly below?: number | undefined;
  readonly between?: readonly [number, number] | undefined;
}

export const CHECK_DEFAULTS = { within: 0, every: 5, failures: 2, timeout: 10 } as const;

/** Longest times of a check, in seconds. A run that waits for one shows nothing else. */
export const CHECK_LIMITS = { within: 3_600, every: 600, timeout: 60, failures: 20 } as const;

export function checkOf(name: string, written: WrittenCheck): Check {
  const seconds = (text: string | undefined, otherwise: number): number =>
    text === undefined ? otherwise : (secondsIn(text) ?? otherwise);
  const probe = probeOf(written);
  const from = written.from ?? (probe.kind === 'command' || probe.kind === 'graph' ? 'node' : 'worker');
  return {
    name,
    probe,
    ...(from !== 'worker' && { from }),
    within: seconds(written.within, CHECK_DEFAULTS.within),
    every: seconds(written.every, CHECK_DEFAULTS.every),
    failures: written.failures ?? CHECK_DEFAULTS.failures,
    timeout: seconds(written.timeout, CHECK_DEFAULTS.timeout),
  };
}

function probeOf({ http, tcp, prometheus, command, graph }: WrittenCheck): Probe {
  if (http !== undefined) {
    const { url, status = 200, contains } = http;
    return { kind: 'http', url, status, ...(contains !== undefined && { contains }) };
  }
  if (tcp !== undefined) return { kind: 'tcp', ...tcp };
  if (command !== undefined) return { kind: 'command', ...command };
  if (graph !== undefined) return { kind: 'graph', ...graph };
  if (prometheus === undefined) throw new Error('probeOf: a check without a kind');
  const { url, query, is } = prometheus;
  return { kind: 'prometheus', url, query, is: is as Condition };
}

/** The values of a probe, by their keys. */
export function textsOf(probe: Probe): Readonly<Record<string, CheckText>> {
  switch (probe.kind) {
    case 'http':
      return { url: probe.url, ...(probe.contains !== undefined && { contains: probe.contains }) };
    case 'tcp':
      return { host: probe.host };
    case 'prometheus':
      return { url: probe.url, query: probe.query };
    case 'command':
      return { cmd: probe.cmd };
    case 'graph':
      return {};
  }
}

/** Whether a check is asked for each node by itself: nodes ask, or something in it is computed. */
const isOfNode = ({ probe, from }: Check): boolean =>
  from !== undefined || Object.values(textsOf(probe)).some((one) => typeof one !== 'string');

/** A check as the plan of a run has it. */
export const planned = z.object({
  name: text,
  /** `node`: it is asked for each node. `wave`: once. */
  each: z.enum(['node', 'wave']),
  /** After so long it has a verdict. */
  seconds: number,
  ...optional({
    /** Nodes ask, in a run of graphs: `together` with the other checks that are, or `alone`. */
    on_nodes: z.enum(['together', 'alone']),
  }),
});
export type PlannedCheck = Wire<typeof planned>;

/** For the plan of a run: how often a check is asked, and after how many seconds it has a verdict, whatever the answers. */
export function plannedCheck(check: Check): PlannedCheck {
  const { name, probe, from, within, every, failures, timeout } = check;
  const seconds = within + (failures + 1) * (every + timeout);
  const on_nodes = probe.kind === 'graph' ? 'alone' : 'together';
  return { name, each: isOfNode(check) ? 'node' : 'wave', seconds, ...(from !== undefined && { on_nodes }) };
}
