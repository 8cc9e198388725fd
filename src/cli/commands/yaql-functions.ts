import { type FunctionDefinition, libraryFunctions, nailgunFunctions, type Parameter } from '@sitewright/yaql';
import { EXIT, type ExitCode } from '../shell/exit-codes.ts';
import type { Terminal } from '../shell/terminal.ts';
import { exampleData, exampleOf } from './yaql-examples.ts';

const chapters: readonly (readonly [string, string])[] = [
  ['changes', 'Changes between two states, and text formats'],
  ['system', 'System: variables, contexts, functions'],
  ['comparison', 'Comparison'],
  ['boolean', 'Boolean'],
  ['branching', 'Branching'],
  ['math', 'Mathematics'],
  ['strings', 'Strings'],
  ['regex', 'Regular expressions'],
  ['collections', 'Collections: lists, dicts, sets'],
  ['queries', 'Queries'],
  ['datetime', 'Dates and timespans'],
];

/** Prints the documentation; returns the exit code, 1 when there is no function of that name. */
export function runFunctions(
  { out, err }: Terminal,
  name: string | undefined,
  markdown: boolean,
  helpers: readonly FunctionDefinition[],
): ExitCode {
  if (name === undefined) {
    out(markdown ? libraryMarkdown() : libraryText(helpers));
    return EXIT.done;
  }
  const text = describeFunction(name, helpers);
  if (text !== null) {
    out(`${text}\n`);
    return EXIT.done;
  }
  const near = [...new Set([...helpers, ...all()].map((f) => f.name))].filter((known) =>
    known.toLowerCase().includes(name.toLowerCase()),
  );
  const hint =
    near.length === 0 ? '`sitewright yaql functions` lists them all.' : `Did you mean ${near.slice(0, 5).join(', ')}?`;
  err(`There is no function "${name}". ${hint}\n`);
  return EXIT.failed;
}

const all = (): readonly FunctionDefinition[] => [...nailgunFunctions, ...libraryFunctions];

/** Documentation of all overloads of a name, or of an operator by its symbol; null when there is none. */
export function describeFunction(name: string, helpers: readonly FunctionDefinition[] = []): string | null {
  const names = [name, `#operator_${name}`, `#unary_operator_${name}`, `#property#${name}`];
  if (name === '=') names.push('*equal');
  if (name === '!=') names.push('*not_equal');
  const overloads = [...helpers, ...all()].filter((f) => names.includes(f.name));
  if (overloads.length === 0) return null;
  return overloads.map(described).join('\n\n');
}

function described(f: FunctionDefinition): string {
  const example = exampleOf(f.chapter, f.name);
  const shown = example === undefined ? '' : `\n    Example: ${example.call} gives ${example.gives}`;
  return `${signatures(f).join('\n')}\n    ${f.documentation}${shown}`;
}

/** The signature of an overload: one or two lines. */
function signatures(f: FunctionDefinition): string[] {
  const parameters = [
    ...f.parameters,
    ...(f.rest === null ? [] : [f.rest]),
    ...(f.keywords === null ? [] : [f.keywords]),
  ];
  const operator =
    /^#(?:unary_)?operator_(.+)$/.exec(f.name)?.[1] ??
    ({ '*equal': '=', '*not_equal': '!=' } as Record<string, string>)[f.name];
  if (operator !== undefined) {
    const [left, right] = parameters;
    // `+` of texts takes any number of them, as `concat` does.
    if (f.rest !== null) return [`<string> ${operator} <string>`];
    if (right === undefined) return [`${operator} ${shape(left as Parameter)}`];
    const tight = operator === '.' || operator === '?.';
    return [
      tight
        ? `${shape(left as Parameter)}${operator}${shape(right)}`
        : `${shape(left as Parameter)} ${operator} ${shape(right)}`,
    ];
  }
  if (f.name.startsWith('#property#'))
    return [`${shape(f.parameters[0] as Parameter)}.${f.name.slice('#property#'.length)}`];
  if (f.name === '#list') return ['[args, …]'];
  if (f.name === '#map') return ['{key => value, …}'];
  if (f.name === '#indexer')
    return [`${shape(f.parameters[0] as Parameter)}[${f.parameters.slice(1).map(shape).join(', ')}]`];
  const lines: string[] = [];
  if (f.isFunction) lines.push(`${f.name}(${parameters.map(shape).join(', ')})`);
  if (f.isMethod)
    lines.push(`${shape(parameters[0] as Parameter)}.${f.name}(${parameters.slice(1).map(shape).join(', ')})`);
  return lines;
}

/** `name: type`, with a mark if it is optional. */
function shape(parameter: Parameter): string {
  const typed = `${parameter.name}: ${parameter.type.name}`;
  if (parameter.position === 'rest') return `…${typed}`;
  if (parameter.position === 'keywords') return `${parameter.name} => …`;
  return parameter.required ? (parameter.position === 'single' ? `<${typed}>` : typed) : `[${typed}]`;
}

function* byChapter(): Generator<[title: string, overloads: FunctionDefinition[]]> {
  for (const [chapter, title] of chapters) yield [title, all().filter((f) => f.chapter === chapter)];
}

function libraryText(helpers: readonly FunctionDefinition[]): string {
  let out = '';
  const own = helpers.length === 0 ? [] : [['Functions of this installation', helpers] as const];
  for (const [title, overloads] of [...own, ...byChapter()]) {
    out += `${title}\n${'='.repeat(title.length)}\n\n`;
    for (const f of overloads) out += `${described(f)}\n\n`;
  }
  return out;
}

/** The generated part of `docs/reference/yaql.md`. */
export function libraryMarkdown(): string {
  let out = `The examples are evaluated over this data; \`new\` is \`$\`:\n\n\`\`\`yaml\n${exampleData()}\n\`\`\`\n\n`;
  for (const [title, overloads] of byChapter()) {
    out += `### ${title}\n\n| call | result | example |\n| --- | --- | --- |\n`;
    for (const f of overloads) {
      const calls = signatures(f).map((line) => `\`${line.replaceAll('|', '\\|')}\``);
      const example = exampleOf(f.chapter, f.name);
      const shown = example === undefined ? '' : `\`${example.call}\` → \`${example.gives}\``;
      out += `| ${calls.join('<br>')} | ${[f.documentation, shown].map((text) => text.replaceAll('|', '\\|')).join(' | ')} |\n`;
    }
    out += '\n';
  }
  return `${out.trimEnd()}\n`;
}
