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
  | { readonly kind: 'prometheus'; readonly url: CheckText; readonly query: CheckText; readonly is: Condition };

/** A check, with what holds where its document says nothing. All times are seconds. */
export interface Check {
  readonly name: string;
  readonly probe: Probe;
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
  readonly from?: 'worker' | undefined;
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
  return {
    name,
    probe: probeOf(written),
    within: seconds(written.within, CHECK_DEFAULTS.within),
    every: seconds(written.every, CHECK_DEFAULTS.every),
    failures: written.failures ?? CHECK_DEFAULTS.failures,
    timeout: seconds(written.timeout, CHECK_DEFAULTS.timeout),
  };
}

function probeOf({ http, tcp, prometheus }: WrittenCheck): Probe {
  if (http !== undefined) {
    const { url, status = 200, contains } = http;
    return { kind: 'http', url, status, ...(contains !== undefined && { contains }) };
  }
  if (tcp !== undefined) return { kind: 'tcp', ...tcp };
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
  }
}

/** Whether a check is asked for each node by itself: something in it is computed. */
const isOfNode = ({ probe }: Check): boolean => Object.values(textsOf(probe)).some((one) => typeof one !== 'string');

/** A check as the plan of a run has it. */
export interface PlannedCheck {
  readonly name: string;
  /** `node`: it is asked for each node. `wave`: once. */
  readonly each: 'node' | 'wave';
  /** After so long it has a verdict. */
  readonly seconds: number;
}

/** For the plan of a run: how often a check is asked, and after how many seconds it has a verdict, whatever the answers. */
export function plannedCheck(check: Check): PlannedCheck {
  const { name, within, every, failures, timeout } = check;
  const seconds = within + (failures + 1) * (every + timeout);
  return { name, each: isOfNode(check) ? 'node' : 'wave', seconds };
}
