import { type Logger, type LoggerOptions, pino } from 'pino';
import { printable } from '../../core/text/control-characters.ts';
import { withoutPasswords } from '../../core/text/secrets.ts';
import { TOKEN_IN_TEXT } from '../secrets/access-token.ts';
import type { Settings } from '../settings/settings.ts';

export type { Logger } from 'pino';

/** Keys whose values never reach a log, at any depth and in any spelling. */
const SECRET_KEYS = new Set([
  'authorization',
  'proxyauthorization',
  'xauthtoken',
  'cookie',
  'setcookie',
  'key',
  'apikey',
  'privatekey',
  'password',
  'passphrase',
  'secret',
  'token',
  'userdata',
]);

const CENSOR = '[redacted]';
/** Deeper than any intended log entry. */
const DEEPEST = 8;

/** Secrets recognizable by their form in any text: our tokens, and credentials of requests. */
const SECRET_TEXTS: readonly (readonly [RegExp, string])[] = [
  [TOKEN_IN_TEXT, CENSOR],
  [/\b(bearer|basic) +[\w.~+/=-]{8,}/gi, `$1 ${CENSOR}`],
  [/\b(oauth_(?:signature|token|consumer_key)=)[^,\s&\\]+/gi, `$1${CENSOR}`],
];

/**
 * The process's logger. `json` writes one object per line for collectors, `pretty` one line for people. Both write to
 * standard error, because standard output is for a command's results.
 *
 * @param write receives each line including its end; default: standard error
 */
export function createLogger(
  settings: Settings['log'],
  name: string,
  write: (line: string) => void = toStandardError(settings.format),
): Logger {
  const options: LoggerOptions = {
    name,
    level: settings.level,
    base: { process: name },
    formatters: {
      log: (fields) => withoutSecrets(fields, 0) as Record<string, unknown>,
    },
    serializers: {
      err: (error) => (error instanceof Error ? withoutSecrets(withoutPayloads(error), 0) : error),
    },
  };
  const last = settings.format === 'json' ? write : (line: string) => write(prettyLine(line));
  const logger = pino(options, { write: (line: string) => last(withoutSecretTexts(line)) });
  // pino writes the fields of children unfiltered. Children inherit this override.
  const child = logger.child as unknown as (this: Logger, fields: object, options?: object) => Logger;
  logger.child = function (this: Logger, fields: object, childOptions?: object) {
    return child.call(this, withoutSecrets(fields, 0) as object, childOptions);
  } as unknown as Logger['child'];
  return logger;
}

function toStandardError(format: Settings['log']['format']): (line: string) => void {
  if (format === 'pretty') return (line) => void process.stderr.write(line);
  const out = pino.destination({ fd: 2, sync: true });
  return (line) => void out.write(line);
}

/** As pino shows it, without what Temporal's failures carry for the caller: a run's whole report, once as a value and once encoded. */
function withoutPayloads(error: Error): object {
  const shown = pino.stdSerializers.err(error) as object;
  if (!('details' in error)) return shown;
  return Object.fromEntries(Object.entries(shown).filter(([key]) => key !== 'details' && key !== 'failure'));
}

const isSecretKey = (key: string): boolean => SECRET_KEYS.has(key.replaceAll(/[_-]/g, '').toLowerCase());

/** A copy without the values of secret keys; errors are left to their serialiser. */
function withoutSecrets(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Error) return value;
  if (depth > DEEPEST) return '…';
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, depth + 1));
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      isSecretKey(key) && inner !== undefined && inner !== null ? CENSOR : withoutSecrets(inner, depth + 1),
    ]),
  );
}

/** A text without the secrets that are recognizable by their form. */
export const withoutSecretTexts = (line: string): string =>
  withoutPasswords(
    SECRET_TEXTS.reduce((text, [form, instead]) => text.replace(form, instead), line),
    CENSOR,
  );

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};

/** `15:04:05 warn  worker  the message  key=value`; any other line passes unchanged. */
function prettyLine(line: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  const { level, time, process: source, name: _name, msg, err, ...rest } = entry;
  const clock = new Date(Number(time)).toISOString().slice(11, 19);
  const values = Object.entries(rest).map(
    ([key, value]) => `${key}=${printable(typeof value === 'string' ? value : JSON.stringify(value))}`,
  );
  const problem =
    typeof err === 'object' && err !== null ? [printable(String((err as { message?: unknown }).message ?? ''))] : [];
  const parts = [
    clock,
    (LEVELS[Number(level)] ?? 'info').padEnd(5),
    String(source ?? ''),
    printable(String(msg ?? '')),
    ...problem,
    ...values,
  ];
  return `${parts.filter((part) => part !== '').join('  ')}\n`;
}
