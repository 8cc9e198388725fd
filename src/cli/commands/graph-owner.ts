import { someOf } from '../../core/text/text.ts';
import { apiOrigin, contextOf } from '../shell/api-address.ts';
import type { CliCommand } from '../shell/command.ts';
import { pluginArgument, releaseArgument } from '../shell/id-argument.ts';
import { idIn, namedThings } from '../shell/named-ids.ts';
import { usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';

/** The owner of a graph; exactly one must be present. */
export interface OwnerFlags {
  readonly cluster?: string;
  readonly release?: string;
  readonly plugin?: string;
}

/** Adds `--cluster`, `--release`, `--plugin` to a command. */
export const ownerOptions = (command: CliCommand): CliCommand =>
  command
    .ofCluster('cluster that owns it')
    .option('-r, --release <id>', 'release that owns it: its id or name', releaseArgument)
    .option('-p, --plugin <id>', 'plugin that owns it: its id or name', pluginArgument);

interface GraphOwner {
  readonly kind: 'cluster' | 'release' | 'plugin';
  readonly id: string;
  /** As in paths of the API. */
  readonly folder: 'clusters' | 'releases' | 'plugins';
  /** For people: `cluster lab` as it was typed, or `cluster 3`. */
  readonly text: string;
}

const OWNERS = [
  ['cluster', 'cluster', 'clusters'],
  ['release', 'release', 'releases'],
  ['plugin', 'plugin', 'plugins'],
] as const;

/**
 * The owner in the flags, else a cluster (spec 1: "supposed to be default relation target for the custom graphs"): that of the
 * context in use, or the only one. It is named on standard error. @throws CliError where there are several, and for several owners
 */
export async function ownerOrCluster(session: Session, flags: OwnerFlags): Promise<GraphOwner> {
  if (OWNERS.some(([flag]) => flags[flag] !== undefined)) return ownerOf(session, flags);
  const { terminal } = session;
  const context = contextOf(terminal, await apiOrigin(terminal, session.flags()));
  const clusters = await namedThings(await session.client(), 'cluster');
  const cluster = context?.cluster ?? (clusters.length === 1 ? clusters[0]!.name : undefined);
  if (cluster === undefined)
    throw usageError(
      'name the owner of the graph',
      clusters.length === 0
        ? 'There is no cluster: give --release ID or --plugin ID.'
        : `Give --cluster with one of ${someOf(
            clusters.map(({ name }) => name),
            SHOWN,
          )}; or --release ID, or --plugin ID.`,
    );
  const id = String(idIn('cluster', cluster, clusters));
  session.called.set(`cluster ${id}`, cluster);
  terminal.err(`owner: cluster ${cluster}, ${context?.cluster === undefined ? 'the only one' : 'of the context'}\n`);
  return ownerOf(session, { cluster: id });
}

const SHOWN = 10;

/** The owner in the flags. @throws CliError for none and for several */
export function ownerOf(session: Pick<Session, 'textOf'>, flags: OwnerFlags): GraphOwner {
  const named = OWNERS.filter(([flag]) => flags[flag] !== undefined);
  const [first] = named;
  if (first === undefined || named.length > 1)
    throw usageError(
      'name one owner of the graph',
      'Give --cluster ID, --release ID or --plugin ID, and only one of them.',
    );
  const [flag, kind, folder] = first;
  const id = flags[flag]!;
  return { kind, id, folder, text: session.textOf(kind, id) };
}
