import { readFileSync } from 'node:fs';
import { type PlanInput, planGraph, readPlanInput, type SerializedGraph } from '../../../src/graph/index.ts';
import { serializedGraph } from '../../rig/serialized-graph.ts';

const folder = new URL('../../data/fuel/', import.meta.url);

/** A file of the recorded material. */
export const recorded = (file: string): unknown => JSON.parse(readFileSync(new URL(file, folder), 'utf8'));

// biome-ignore lint/suspicious/noExplicitAny: recorded JSON is read as it comes
export type Json = Record<string, any>;

/** The input of a plan, as read from a file. Throws with the problems if it is refused. */
export function inputOf(value: unknown): PlanInput {
  const read = readPlanInput(value);
  if (!read.ok) throw new Error(JSON.stringify(read.problems, null, 1));
  return read.input;
}

export function planOf(value: unknown) {
  const planned = planGraph(inputOf(value));
  if (!planned.ok) throw new Error(JSON.stringify(planned.problems, null, 1));
  return planned.plan;
}

/** The result as a program gets it: JSON there and back. */
export const resultOf = (value: unknown): SerializedGraph & Json => serializedGraph(planOf(value));

/** Codes of everything that refuses an input. */
export function refusalOf(
  value: unknown,
): { readonly code: string; readonly path: string | undefined; readonly message: string }[] {
  const read = readPlanInput(value);
  const planned = read.ok ? planGraph(read.input) : read;
  if (planned.ok) return [];
  return planned.problems
    .filter(({ severity }) => severity === 'error')
    .map(({ code, path, message }) => ({ code, path, message }));
}

/** A small cluster: nodes by their tags, and data all of them see. */
export function cluster(nodes: Readonly<Record<string, readonly string[]>>, common: Json = {}, own: Json = {}): Json {
  const parts = Object.fromEntries(Object.keys(nodes).map((uid) => [uid, own[uid] ?? {}]));
  return {
    resolver: Object.entries(nodes).map(([uid, all_tags]) => ({ uid, all_tags })),
    deployment_info: { common, nodes: { ...parts, master: own.master ?? {}, null: own.null ?? {} } },
    formatter: { MASTER_IP: '10.20.0.2' },
  };
}

/** Runs of each task in a result, as `task@node`. */
export const running = (result: Json): string[] =>
  Object.entries(result.tasks_graph as Record<string, Json[]>)
    .flatMap(([node, tasks]) => tasks.filter(({ type }) => type !== 'skipped').map(({ id }) => `${id}@${node}`))
    .sort();

/** One task on one node of a result. */
export const taskOf = (result: Json, id: string, node: string): Json | undefined =>
  (result.tasks_graph as Record<string, Json[]>)[node]?.find((task) => task.id === id);

/** The recorded result with another choice of `policy: any` (the one task that has it asks for ntp-server). */
export function withChoice(expected: Json, chosen: string): Json {
  const recordedChoice = expected.any_choices[0].chosen[0];
  const serversOn = new Set(
    Object.entries(expected.tasks_graph as Record<string, Json[]>)
      .filter(([, tasks]) => tasks.some(({ id }) => id === 'ntp-server'))
      .map(([node]) => node),
  );
  for (const tasks of Object.values(expected.tasks_graph as Record<string, Json[]>)) {
    const client = tasks.find(({ id }) => id === 'ntp-client');
    if (client === undefined) continue;
    const others = (client.requires ?? []).filter(
      (one: Json) => one.name !== 'ntp-server' || one.node_id !== recordedChoice,
    );
    const server = serversOn.has(chosen) ? [{ name: 'ntp-server', node_id: chosen }] : [];
    client.requires = [...others, ...server].sort((a, b) => (a.name < b.name ? -1 : 1));
  }
  expected.any_choices[0].chosen = [chosen];
  return expected;
}
