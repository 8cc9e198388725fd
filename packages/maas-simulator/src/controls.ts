import { isObject } from '@sitewright/maas/json';
import { machineStatusName } from '@sitewright/maas/status';
import { readAutomation } from './automation.ts';
import type { BootFaults } from './containers/boot-faults.ts';
import { readFaults } from './faults.ts';
import { beginWaitingPhases, isRackEvent, rackEvents, takeRackEvent } from './rack-events.ts';
import type { Machine } from './records.ts';
import { plantSeed, type Seed } from './seed.ts';
import type { Simulation } from './simulation.ts';

/** The answer of a control: a status and JSON. */
export interface ControlAnswer {
  readonly status: number;
  readonly value: unknown;
}

/** The server around the region, for the controls. */
export interface ControlledServer extends Simulation {
  /** Empties the region, stops its timers and clears its journal. */
  readonly reset: () => void;
  /** Of machines that are containers; undefined without them. */
  readonly bootFaults: BootFaults | undefined;
}

const done = (value: unknown): ControlAnswer => ({ status: 200, value });
const wrong = (status: number, ...problems: readonly string[]): ControlAnswer => ({
  status,
  value: { error: problems.join('; '), problems },
});

const controls = [
  'POST reset',
  'POST seed',
  'POST images',
  'POST auto',
  'POST rack',
  'POST faults',
  'POST boots',
  'POST <system_id or hostname>/<event>',
  'GET auto',
  'GET faults',
  'GET effects',
  'GET requests',
] as const;

/** A copy of the automation in the form of the `auto` body. */
function viewAutomation(sim: Simulation): object {
  const { automation, bmcConflict } = sim.region.control;
  const delays = Object.entries(automation.delays).map(([phase, ms]) => [`${phase}_ms`, ms]);
  return {
    ...Object.fromEntries(delays),
    jitter: automation.jitter,
    fail: automation.fail,
    fail_times: automation.failTimes,
    fail_comment: automation.failComment,
    discover: automation.discover,
    bmc_conflict: bmcConflict,
  };
}

function record(body: unknown): Readonly<Record<string, unknown>> | null {
  return isObject(body) ? (body as Readonly<Record<string, unknown>>) : null;
}

/** Sets how phases end automatically, also of running machines; omitted keys keep their value. */
export function setAutomation(sim: Simulation, body: unknown): ControlAnswer {
  const given = record(body);
  if (!given) return wrong(400, 'auto takes an object, for example {"deploy_ms":300}');
  const read = readAutomation(sim.region.control.automation, given);
  if ('problems' in read) return wrong(400, ...read.problems);
  const row = sim.region.editControl();
  row.automation = read.automation;
  if (given.bmc_conflict !== undefined) row.bmcConflict = given.bmc_conflict === true;
  beginWaitingPhases(sim);
  return done(viewAutomation(sim));
}

export function seedMachines(sim: Simulation, body: unknown): ControlAnswer {
  const given = record(body);
  if (!given) return wrong(400, 'seed takes an object, for example {"count":3,"prefix":"n"}');
  const planted = plantSeed(sim, given as Seed);
  return 'problems' in planted ? wrong(400, ...planted.problems) : done(planted.systemIds);
}

function reportEvent(sim: Simulation, name: string, event: string, body: unknown): ControlAnswer {
  const machine: Readonly<Machine> | undefined = sim.region.machines.get(name) ?? sim.region.machinesNamed(name)[0];
  if (!machine) return wrong(404, `no machine '${name}'`);
  if (!isRackEvent(event)) return wrong(404, `no event '${event}': ${rackEvents.join(', ')}`);
  const comment = record(body)?.comment;
  takeRackEvent(sim, machine, event, typeof comment === 'string' ? comment : null, {
    what: `rack:${event}`,
    user: null,
  });
  return done({ system_id: machine.id, status: machine.status, status_name: machineStatusName(machine.status) });
}

/**
 * Handles `/_control/`: changes of the region by tests and demos, outside MAAS' API.
 *
 * @param path after `/_control/`, without slashes at its ends.
 */
export function control(server: ControlledServer, method: string, path: string, bodyText: string): ControlAnswer {
  const { region } = server;
  if (method === 'GET') {
    if (path === '') return done({ controls });
    if (path === 'effects') return done(region.effects.entries);
    if (path === 'requests') return done(region.requests.entries);
    if (path === 'auto') return done(viewAutomation(server));
    if (path === 'faults') return done(region.control.faults);
    return wrong(404, `no control 'GET ${path}'`, ...controls);
  }
  if (method !== 'POST') return wrong(405, `controls take GET and POST`);
  let body: unknown = {};
  if (bodyText.trim() !== '') {
    try {
      body = JSON.parse(bodyText);
    } catch (error) {
      return wrong(400, `the body is not JSON: ${(error as Error).message}`);
    }
  }
  if (path === 'reset') {
    server.reset();
    return done({ ok: true });
  }
  if (path === 'seed') return seedMachines(server, body);
  if (path === 'images') return seedMachines(server, { images: body });
  if (path === 'auto') return setAutomation(server, body);
  if (path === 'rack') {
    const up = record(body)?.up;
    if (typeof up !== 'boolean') return wrong(400, 'rack takes {"up":true} or {"up":false}');
    region.editControl().rackUp = up;
    return done({ up });
  }
  if (path === 'faults') {
    const read = readFaults(body);
    if ('problems' in read) return wrong(400, ...read.problems);
    region.editControl().faults = read.faults;
    return done(read.faults);
  }
  if (path === 'boots') {
    if (server.bootFaults === undefined)
      return wrong(409, 'boots are of machines that are containers: --machines containers');
    const problems = server.bootFaults.set(body);
    return problems.length > 0 ? wrong(400, ...problems) : done(server.bootFaults.all);
  }
  const [name = '', event = '', ...more] = path.split('/');
  if (event === '' || more.length > 0) return wrong(404, `no control 'POST ${path}'`, ...controls);
  return reportEvent(server, name, event, body);
}
