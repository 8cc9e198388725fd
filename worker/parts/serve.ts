import { MaasConfigurationError } from '@sitewright/maas/api-key';
import { EXIT } from '../../src/cli/shell/exit-codes.ts';
import { CliError } from '../../src/cli/shell/problem.ts';
import type { Terminal } from '../../src/cli/shell/terminal.ts';
import { RefusalError } from '../../src/core/problems/refusal.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';
import { createLogger, type Logger } from '../../src/platform/telemetry/log.ts';
import { StoreError } from '../../src/store/failure.ts';
import { ListenError } from './listen-error.ts';

/** A part of the system that runs until stopped. */
interface Service {
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

/** Starts a service, prints a line, and resolves when it has ended: on its own, by Ctrl-C or by SIGTERM. */
export async function serve(
  terminal: Terminal,
  settings: Settings,
  name: string,
  start: (log: Logger) => Promise<Service & { readonly said: string }>,
): Promise<void> {
  const interrupted = terminal.interrupted();
  const log = createLogger(settings.log, name);
  let service: Service & { readonly said: string };
  const starting = start(log);
  try {
    service = await Promise.race([starting, untilAborted(interrupted)]);
  } catch (error) {
    if (interrupted.aborted) return void starting.then((late) => late.stop()).catch(() => undefined);
    throw explainStart(error, settings, name);
  }
  terminal.out(`${service.said}\n`);
  const stopped = new Promise<void>((resolve) => {
    const stop = (): void => void service.stop().then(resolve, resolve);
    if (interrupted.aborted) stop();
    else interrupted.addEventListener('abort', stop, { once: true });
  });
  await Promise.race([service.done, stopped]);
}

/** An attempt to connect may take long: the process ends without it. */
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

/** The operator can fix the obstacle to a start: explain it without a stack trace. */
export function explainStart(error: unknown, settings: Settings, name: string): unknown {
  if (error instanceof ListenError && error.isTaken) return new CliError(error.problem, EXIT.conflict);
  if (error instanceof RefusalError) return error;
  if (error instanceof StoreError)
    return new CliError(
      { code: 'store-failed', message: error.failure.message, hint: error.failure.hint },
      EXIT.unreachable,
    );
  if (error instanceof MaasConfigurationError)
    return new CliError({ code: 'maas-not-configured', message: error.message }, EXIT.unreachable);
  const message = error instanceof Error ? error.message : String(error);
  // The SDK's connection errors have no common class.
  if (/connect|unavailable|deadline|transport|failed to call GetSystemInfo/i.test(message))
    return new CliError(
      {
        code: 'temporal-unreachable',
        message: `the ${name} cannot start: Temporal at ${settings.temporal.address} cannot be reached (${message.split('\n')[0]})`,
        hint: "Start it ('sitewright up'), or correct temporal.address. 'sitewright doctor' checks everything.",
      },
      EXIT.unreachable,
    );
  return error;
}
