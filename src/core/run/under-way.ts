import type { RunReport } from '../contracts/site-run-report.ts';
import { someOf } from '../text/text.ts';
import type { AnyRunReport } from './status.ts';

type Nodes = NonNullable<RunReport['baremetal']>['nodes'];

/** The nodes in the middle of a step, in a report that a run showed. */
export const underWay = (report: AnyRunReport | undefined): Nodes =>
  report !== undefined && 'baremetal' in report
    ? (report.baremetal?.nodes ?? []).filter(({ running }) => running !== undefined)
    : [];

/** What became of a node whose run ended without its own doing. */
export const cutShort = ({ running }: Nodes[number], outcome: string): string =>
  `the run ended as ${outcome} in the middle of its ${running}, which may go on in MAAS`;

const NAMED = 20;

export const cutShortWarning = (nodes: Nodes): readonly string[] =>
  nodes.length === 0
    ? []
    : [
        `machines in the middle of a step as the run ended, which may go on in MAAS: ${someOf(
          nodes.map(({ name }) => name),
          NAMED,
        )}`,
      ];
