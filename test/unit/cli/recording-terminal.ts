import { runCli } from '../../../src/cli/shell/run-cli.ts';
import type { Terminal } from '../../../src/cli/shell/terminal.ts';

/** A terminal that records its output, gives prepared answers, and whose clock moves only when something sleeps. */
export interface RecordingTerminal extends Terminal {
  readonly said: { out: string; err: string };
  /** Ctrl-C. */
  interrupt(): void;
  /** Called at each sleep, before it ends. */
  onSleep: (milliseconds: number) => void | Promise<void>;
}

export interface TerminalOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly color?: boolean;
  /** Width of the terminal; absent: not a terminal. */
  readonly columns?: number;
  /** The answers to questions; absent: not interactive. */
  readonly answer?: string;
  /** The standard input from another program. */
  readonly piped?: string;
}

export function recordingTerminal(options: TerminalOptions = {}): RecordingTerminal {
  const said = { out: '', err: '' };
  const interruption = new AbortController();
  let clock = Date.UTC(2026, 0, 2, 3, 4, 5);
  const terminal: RecordingTerminal = {
    said,
    env: options.env ?? {},
    cwd: options.cwd ?? process.cwd(),
    color: options.color ?? false,
    columns: options.columns,
    interactive: options.answer !== undefined,
    interrupted: () => interruption.signal,
    interrupt: () => interruption.abort(),
    onSleep: () => {},
    out: (text) => {
      said.out += text;
    },
    outAll: async (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    ask: async (question) => {
      said.out += question;
      return options.answer ?? '';
    },
    pipedLine: async () => options.piped,
    now: () => clock,
    sleep: async (milliseconds) => {
      clock += milliseconds;
      await terminal.onSleep(milliseconds);
    },
  };
  return terminal;
}

export interface CliAnswer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs one command line in this process. */
export async function cli(args: readonly string[], options: TerminalOptions = {}): Promise<CliAnswer> {
  const terminal = recordingTerminal(options);
  const code = await runCli(args, terminal);
  return { code, ...terminal.said };
}
