import { Argument, type Command } from 'commander';
import type { CliCommand } from '../command.js';
import type { Session } from '../session.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** `sitewright completion SHELL`: a script made from the commands themselves. */
export function registerCompletion(program: CliCommand, session: Session): void {
  program
    .verb('completion', 'Print a completion script; see its first lines for how to install it')
    .addArgument(new Argument('<shell>', 'shell to write the script for').choices([...SHELLS]))
    .action((shell: Shell) => {
      const words = wordsOf(program);
      session.terminal.out({ bash: bashScript, zsh: zshScript, fish: fishScript }[shell](words));
    });
}

/** What may follow a command, by the words before it joined by spaces; '' for the program itself. */
type Words = ReadonlyMap<string, readonly { readonly word: string; readonly description: string }[]>;

function wordsOf(program: Command): Words {
  const words = new Map<string, { word: string; description: string }[]>();
  const walk = (command: Command, path: string): void => {
    const options = [...command.options, ...(command === program ? [] : program.options)];
    words.set(path, [
      ...command.commands.map((child) => ({ word: child.name(), description: child.description() })),
      ...options.flatMap(({ long, hidden, description }) => (long && !hidden ? [{ word: long, description }] : [])),
      { word: '--help', description: 'help' },
    ]);
    for (const child of command.commands) walk(child, `${path} ${child.name()}`.trim());
  };
  walk(program, '');
  return words;
}

/** Completes two levels of commands from the words before the cursor, and files otherwise. */
function bashScript(words: Words): string {
  const cases = [...words].map(([path, next]) => `    '${path}') next='${next.map(({ word }) => word).join(' ')}' ;;`);
  return `# bash completion of sitewright. Install: sitewright completion bash > ~/.local/share/bash-completion/completions/sitewright
_sitewright() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' next='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      -*) ;;
      *) case "\${path:+$path }$word" in
${[...words.keys()]
  .filter((path) => path !== '')
  .map((path) => `        '${path}') path='${path}' ;;`)
  .join('\n')}
      esac ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$next" -- "$current"))
}
complete -o default -F _sitewright sitewright
`;
}

function zshScript(words: Words): string {
  return `#compdef sitewright
# zsh completion of sitewright. Install: sitewright completion zsh > a folder of $fpath/_sitewright
autoload -U +X bashcompinit && bashcompinit
${bashScript(words)}`;
}

function fishScript(words: Words): string {
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = [...words].flatMap(([path, next]) => {
    const condition =
      path === ''
        ? '__fish_use_subcommand'
        : path
            .split(' ')
            .map((word) => `__fish_seen_subcommand_from ${word}`)
            .join('; and ');
    return next.map(({ word, description }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c sitewright -n ${quote(condition)} ${what} -d ${quote(description)}`;
    });
  });
  return `# fish completion of sitewright. Install: sitewright completion fish > ~/.config/fish/completions/sitewright.fish
${lines.join('\n')}
`;
}
