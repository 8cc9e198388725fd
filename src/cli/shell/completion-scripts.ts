import type { Command } from 'commander';
import type { ValueKind } from './completion-values.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/** The script by which a shell completes the commands of a program. */
export const completionScript = (shell: Shell, program: Command): string =>
  ({ bash: bashScript, zsh: zshScript, fish: fishScript })[shell](placesOf(program));

/** Completions at a position: words, names of a kind, or files, as everywhere else. */
type Values = { readonly words: readonly string[] } | { readonly kind: ValueKind } | 'files';

interface OptionPlace {
  /** Long and short. */
  readonly flags: readonly string[];
  readonly description: string;
  /** Absent: it takes no value. */
  readonly value?: Values;
}

/** Completions after a command. */
interface Place {
  readonly commands: readonly { readonly word: string; readonly description: string }[];
  readonly options: readonly OptionPlace[];
  /** By position; the last one repeats where it is variadic. */
  readonly arguments: readonly Values[];
}

/** By the words of the command joined by spaces; '' for the program itself. */
type Places = ReadonlyMap<string, Place>;

function placesOf(program: Command): Places {
  const places = new Map<string, Place>();
  const walk = (command: Command, path: string): void => {
    const options = [...command.options, ...(command === program ? [] : program.options)].filter((one) => !one.hidden);
    places.set(path, {
      commands: command.commands.map((child) => ({ word: child.name(), description: child.description() })),
      options: [
        ...options.map((option) => ({
          flags: [option.long, option.short].filter((flag) => flag !== undefined && flag !== null),
          description: option.description,
          ...(option.required || option.optional
            ? { value: valuesOf(path, option.attributeName(), option.argChoices) }
            : {}),
        })),
        { flags: ['--help', '-h'], description: 'help' },
      ],
      arguments: command.registeredArguments.map((one) => valuesOf(path, one.name(), one.argChoices)),
    });
    for (const child of command.commands) walk(child, `${path} ${child.name()}`.trim());
  };
  walk(program, '');
  return places;
}

const valuesOf = (path: string, name: string, choices: readonly string[] | undefined): Values => {
  if (choices !== undefined) return { words: choices };
  const kind = KINDS[`${path} ${name}`] ?? KINDS[`${path.split(' ')[0]} ${name}`] ?? KINDS[name];
  return kind === undefined ? 'files' : { kind };
};

/** By name of an option or argument; where it means different things, with the command or its group before. */
const KINDS: Readonly<Record<string, ValueKind>> = {
  site: 'sites',
  run: 'runs',
  cluster: 'clusters',
  'cluster id': 'clusters',
  release: 'releases',
  'release id': 'releases',
  plugin: 'plugins',
  'plugin id': 'plugins',
  'package package': 'packages',
  'sequence id': 'sequences',
  'schedule name': 'schedules',
  transaction: 'transactions',
  from: 'transactions',
  type: 'types',
  ids: 'nodes',
  'cluster node': 'nodes',
  'history node': 'nodes',
  'tag node': 'nodes',
  'graph node': 'nodes',
  'graph show': 'nodes',
  'run node': 'run-nodes',
  'node node': 'site-nodes',
  'site nodes': 'site-nodes',
};

/** The command and options before the cursor decide the completions. */
function bashScript(places: Places): string {
  const all = [...places];
  const offers = all.map(([path, { commands, options }]) => {
    const words = [...commands.map(({ word }) => word), ...options.map(({ flags }) => flags[0]!)];
    return `    '${path}') next='${words.join(' ')}' ;;`;
  });
  const perPlace = new Map<string, string[]>();
  const add = (place: string, values: Values): void => {
    const offer =
      values === 'files' ? 'files=1' : 'kind' in values ? `kind=${values.kind}` : `next='${values.words.join(' ')}'`;
    perPlace.set(offer, [...(perPlace.get(offer) ?? []), `'${place}'`]);
  };
  for (const [path, { options, arguments: positions }] of all) {
    for (const { flags, value } of options)
      if (value !== undefined) for (const flag of flags) add(`${path} ${flag}`.trim(), value);
    for (const [at, values] of positions.entries()) add(`${path} ${at}`, values);
  }
  const isCommand = all.flatMap(([path]) => (path === '' ? [] : `'${path}'`)).join('|');
  const takesValue = [...perPlace].flatMap(([, where]) => where.filter((one) => / -|^'-/.test(one))).join('|');
  return `# bash completion of sitewright. Install: sitewright completion bash > ~/.local/share/bash-completion/completions/sitewright
_sitewright() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' next='' kind='' files='' option='' word given=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [ -n "$option" ]; then option=''; continue; fi
    case "$word" in
      -*) case "\${path:+$path }$word" in
        ${takesValue}) option="$word" ;;
      esac ;;
      *) case "\${path:+$path }$word" in
        ${isCommand}) path="\${path:+$path }$word" ;;
        *) given+=("$word") ;;
      esac ;;
    esac
  done
  case "$path" in
${offers.join('\n')}
  esac
  local place="\${path:+$path }$option"
  [ -n "$option" ] || place="$path \${#given[@]}"
  [ -n "$option" ] && next=''
  case "$place" in
${[...perPlace].map(([offer, where]) => `    ${where.join('|')}) ${offer.startsWith('next=') ? `next="${offer.slice(6, -1)}"` : offer} ;;`).join('\n')}
  esac
  case "$current" in
    -*) ;;
    *) [ -z "$kind" ] || next="$(sitewright completion bash --values "$kind" --of "\${given[0]}" 2>/dev/null)"
      [ -z "$files" ] || next='' ;;
  esac
  COMPREPLY=($(compgen -W "$next" -- "$current"))
}
complete -o default -F _sitewright sitewright
`;
}

function zshScript(places: Places): string {
  return `#compdef sitewright
# zsh completion of sitewright. Install: sitewright completion zsh > a folder of $fpath/_sitewright
autoload -U +X bashcompinit && bashcompinit
${bashScript(places)}`;
}

function fishScript(places: Places): string {
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const offerOf = (values: Values): string =>
    values === 'files'
      ? ' -r'
      : ` -x -a ${quote('kind' in values ? `(sitewright completion fish --values ${values.kind} --of (commandline -opc)[-1] 2>/dev/null)` : values.words.join(' '))}`;
  const lines = [...places].flatMap(([path, { commands, options, arguments: positions }]) => {
    const condition =
      path === ''
        ? '__fish_use_subcommand'
        : path
            .split(' ')
            .map((word) => `__fish_seen_subcommand_from ${word}`)
            .join('; and ');
    const start = `complete -c sitewright -n ${quote(condition)}`;
    return [
      ...commands.map(({ word, description }) => `${start} -f -a ${word} -d ${quote(description)}`),
      ...options.map(({ flags: [long = '', short], value, description }) => {
        const names = `-l ${long.slice(2)}${short === undefined ? '' : ` -s ${short.slice(1)}`}`;
        return `${start} ${names}${value === undefined ? '' : offerOf(value)} -d ${quote(description)}`;
      }),
      ...positions.filter((values) => values !== 'files').map((values) => `${start}${offerOf(values)}`),
    ];
  });
  return `# fish completion of sitewright. Install: sitewright completion fish > ~/.config/fish/completions/sitewright.fish
${lines.join('\n')}
`;
}
