import { dump } from 'js-yaml';
import { type Parameters, TASK_TYPES, type TaskType, type Transport } from '../core/task-types/index.js';

const CARRIED_OUT: Readonly<Record<Transport, string>> = {
  agent: "the node's agent",
  ssh: 'ssh, on a node without an agent',
  maas: "MAAS, from the orchestrator's host",
};

/** The text of docs/task-types.md, made from the descriptors of src/core/task-types. */
export function taskTypesPage(): string {
  const types: readonly TaskType[] = TASK_TYPES;
  return `<!-- Made by \`npm run docs:task-types\` from src/core/task-types; a test holds them together. -->
# Task types

What each type of task does, who carries it out, and which parameters it takes. Checking, uploading and planning a graph
report what a node would refuse, and parameters that no one reads. Tasks of any type may also have \`cwd\` and \`strategy\`
in their parameters. A test runs every example; there \`/srv/example\` is a folder of its own. Paths of files follow the
[rules for files](agents.md#rules-for-files).

${types.map(section).join('\n')}`;
}

function section(type: TaskType): string {
  const parts = [`## ${type.name}`, type.does, carriedOut(type)];
  const rows = rowsOf(type.parameters, '');
  if (rows.length > 0) parts.push(['| parameter | default | meaning |', '| --- | --- | --- |', ...rows].join('\n'));
  for (const { parameters, result, needs } of type.examples) {
    const task = dump({ type: type.name, ...(needs === undefined ? {} : { needs }), parameters }, { lineWidth: 100 });
    parts.push(`\`\`\`yaml\n${task}\`\`\``, `\`\`\`json\n${JSON.stringify(result)}\n\`\`\``);
  }
  return `${parts.join('\n\n')}\n`;
}

function carriedOut({ kind, over, noop, anyScript }: TaskType): string {
  if (kind !== 'work') return 'Nothing is carried out.';
  if (over.length === 0) return 'No one carries it out.';
  const who = `Carried out by ${over.map((transport) => CARRIED_OUT[transport]).join('; or by ')}.`;
  const inNoop = noop === 'skip' ? 'In a noop run it is `skipped`.' : 'In a noop run it says what it would change.';
  const policy = anyScript ? " A [node's policy](security.md) may forbid it: it runs a script of any content." : '';
  return `${who} ${inNoop}${policy}`;
}

const rowsOf = (parameters: Parameters, above: string): string[] =>
  Object.entries(parameters).flatMap(([name, { meaning, fallback = 'required', entries }]) => [
    `| \`${above}${name}\` | ${fallback} | ${meaning} |`,
    ...(entries === undefined ? [] : rowsOf(entries, `${above}${name}[].`)),
  ]);
