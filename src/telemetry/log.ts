import { type Logger, pino } from 'pino';
import type { Settings } from '../config/index.js';

export type { Logger } from 'pino';

/** Keys whose values never reach a log, wherever they stand. */
const SECRET_KEYS = [
  'authorization',
  'Authorization',
  'key',
  'apiKey',
  'api_key',
  'password',
  'secret',
  'token',
  'user_data',
  'userData',
];

/**
 * The process's logger. `json` writes one object a line for collectors, `pretty` one line for people;
 * both to standard error, since standard output belongs to what a command prints.
 */
export function createLogger(settings: Settings['log'], name: string): Logger {
  const redact = { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '[redacted]' };
  const options = { name, level: settings.level, redact, base: { process: name } };
  if (settings.format === 'json') return pino(options, pino.destination({ fd: 2, sync: true }));
  return pino(options, { write: (line: string) => process.stderr.write(prettyLine(line)) });
}

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};

/** `15:04:05 warn  worker  the message  key=value`; what is no line of ours passes as it is. */
export function prettyLine(line: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  const { level, time, process: source, name: _name, msg, err, ...rest } = entry;
  const clock = new Date(Number(time)).toISOString().slice(11, 19);
  const values = Object.entries(rest).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const problem = typeof err === 'object' && err !== null ? [String((err as { message?: unknown }).message ?? '')] : [];
  const parts = [
    clock,
    (LEVELS[Number(level)] ?? 'info').padEnd(5),
    String(source ?? ''),
    String(msg ?? ''),
    ...problem,
    ...values,
  ];
  return `${parts.filter((part) => part !== '').join('  ')}\n`;
}
