import { summaryOfMaasCheck } from '@sitewright/maas/check-summary';
import type { Finding } from '../../../worker/doctor.ts';
import type { Health } from '../../core/contracts/service.ts';
import { given } from '../../core/data/given.ts';
import { printable } from '../../core/text/control-characters.ts';
import type { CliCommand } from '../shell/command.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { type OutputFlags, printList } from '../shell/output.ts';
import { CliError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';
import { type Paint, paintFor } from '../views/paint.ts';

/** Oldest supported Node.js. */
const OLDEST_NODE = [24, 0] as const;

/** `sitewright doctor`. */
export function registerDoctor(program: CliCommand, session: Session): void {
  const { terminal } = session;
  program
    .verb(
      'doctor',
      'Check Node.js, settings, Temporal, worker, MAAS, store, modules of your own and API, and show a fix for each problem',
    )
    .example()
    .output()
    .action(async (flags: OutputFlags) => {
      const [own, api] = await Promise.all([systemFindings(session), apiFindings(session)]);
      const findings = [
        nodeFinding(process.versions.node),
        ...own.map((finding) => asApiSees(finding, api)).map(({ isUnset: _, ...shown }) => shown),
        api.finding,
      ];
      if (flags.format === 'table' && !flags.column) terminal.out(doctorText(findings, paintFor(terminal.color)));
      else await printList(terminal, flags, findings, ['name', 'state', 'message', 'fix']);
      if (findings.some(({ state }) => state === 'fail')) process.exitCode = EXIT.unreachable;
    });
}

/** Whether a version of Node.js is supported. */
export function nodeFinding(version: string): Finding {
  if (isAtLeast(version, OLDEST_NODE)) return { name: 'node', state: 'ok', message: `Node.js ${version}` };
  return {
    name: 'node',
    state: 'fail',
    message: `Node.js ${version} is too old`,
    fix: `Install Node.js ${OLDEST_NODE[0]} or newer.`,
  };
}

function isAtLeast(version: string, [oldest, oldestMinor]: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > oldest || (major === oldest && minor >= oldestMinor);
}

async function systemFindings(session: Session): Promise<Finding[]> {
  let loaded: Awaited<ReturnType<Session['settings']>>;
  try {
    loaded = await session.settings();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { message, errors = [], hint } = error.problem;
    const all = errors.map((one) => [one.message, one.hint].filter(Boolean).join('. '));
    return [
      {
        name: 'settings',
        state: 'fail',
        message: [message, ...all].join('; '),
        ...given({ fix: hint }),
      },
    ];
  }
  const { settings, file, warnings } = loaded;
  const state = warnings.length > 0 ? 'warn' : 'ok';
  const where = file === undefined ? 'no file: environment and defaults' : file;
  const own: Finding = {
    name: 'settings',
    state,
    message: [where, ...warnings.map((one) => one.message)].join('; '),
    ...(state === 'warn' ? { fix: 'See docs/reference/settings.md.' } : {}),
  };
  const { examine } = await import('../../../worker/doctor.ts');
  return [own, ...(await examine(settings))];
}

interface ApiFindings {
  readonly finding: Finding;
  /** The API's checks of its dependencies. */
  readonly checks: readonly (Health['checks'][number] & { readonly warning?: string })[];
}

async function apiFindings(session: Session): Promise<ApiFindings> {
  try {
    const client = await session.client();
    const [{ version }, { checks }, maas] = await Promise.all([
      client.version(),
      client.health(),
      maasAsApiSees(client),
    ]);
    return {
      finding: { name: 'api', state: 'ok', message: `API ${version} at ${client.url}` },
      // The whole check in place of the quick one, as `maas check` shows it.
      checks: checks.map((one) => (one.name === 'maas' && one.ok && maas !== undefined ? { ...one, ...maas } : one)),
    };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { message, hint } = error.problem;
    return {
      finding: { name: 'api', state: 'fail', message, ...given({ fix: hint }) },
      checks: [],
    };
  }
}

/** Undefined if the API does not know it, or not in time. */
async function maasAsApiSees(client: Awaited<ReturnType<Session['client']>>) {
  try {
    return summaryOfMaasCheck(await client.maas.check());
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return undefined;
  }
}

/**
 * The API may have other settings than this shell (`sitewright up` chooses some), and has the store open. Deployments use the
 * services that the API reaches, so its check decides: a failure only from this shell is a remark.
 */
export function asApiSees(own: Finding, { checks }: Pick<ApiFindings, 'checks'>): Finding {
  const seen = checks.find(({ name }) => name === own.name);
  if (seen === undefined) return own;
  const { name } = own;
  const { ok, message, warning } = seen;
  const fix = given({ fix: seen.fix });
  if (own.state === 'fail' || own.state === 'skip') {
    const said = [message, ...(warning === undefined ? [] : [warning])].join('; ');
    const state = !ok ? 'fail' : warning === undefined ? 'ok' : 'warn';
    const fromHere = own.isUnset || own.message === message ? '' : `; from here: ${own.message}`;
    return { name, state, message: `${said} (as the API sees it${fromHere})`, ...fix };
  }
  if (!ok) return { name, state: 'fail', message: `${message} (as the API sees it)`, ...fix };
  if (own.state === 'warn' || warning === undefined) return own;
  return { name, state: 'warn', message: `${warning} (as the API sees it)`, ...fix };
}

function doctorText(findings: readonly Finding[], paint: Paint): string {
  const words = { ok: paint.good('ok  '), warn: paint.busy('warn'), fail: paint.bad('FAIL'), skip: paint.dim('-   ') };
  const widest = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.flatMap(({ name, state, message, fix }) => [
    `${words[state]}  ${name.padEnd(widest)}  ${printable(message)}`,
    ...(fix === undefined || state === 'ok'
      ? []
      : [`      ${' '.repeat(widest)}  ${paint.strong('fix:')} ${printable(fix)}`]),
  ]);
  const failed = findings.filter(({ state }) => state === 'fail').length;
  lines.push(
    failed === 0 ? 'everything needed for a deployment is available' : `${failed} of ${findings.length} checks failed`,
  );
  return `${lines.join('\n')}\n`;
}
