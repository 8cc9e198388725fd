import { deleted, invalidForm, json, notFound, refuse } from './answer.ts';
import { administeredMachineOf, type Call, type Handler, machineOf } from './call.ts';
import { scriptStatusNames } from './machine-view.ts';
import type { Machine, ScriptResult, ScriptSet } from './records.ts';

const types: Readonly<Record<ScriptSet['type'], { readonly n: number; readonly name: string }>> = {
  commissioning: { n: 0, name: 'Commissioning' },
  installation: { n: 1, name: 'Installation' },
  testing: { n: 2, name: 'Testing' },
  release: { n: 3, name: 'Release' },
};

/** `Sat, 21 Nov 2026 13:20:56 +0000` */
const scriptDate = (at: number | null): string | null =>
  at === null ? null : new Date(at).toUTCString().replace('GMT', '+0000');

/** `0:01:02` */
function runtime(set: ScriptSet): string {
  const seconds = set.ended === null ? 0 : Math.round((set.ended - set.started) / 1000);
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

function viewResult(machine: Readonly<Machine>, set: ScriptSet, result: ScriptResult, withOutput: boolean): object {
  const output = result.name === 'maas-lshw' && result.exitStatus === 0 ? lshw(machine) : result.output;
  const outputs = {
    output: base64(output),
    stdout: base64(result.exitStatus === 0 ? output : ''),
    stderr: base64(result.exitStatus === 0 ? '' : output),
    result: '',
  };
  return {
    id: result.id,
    name: result.name,
    created: scriptDate(set.started),
    updated: scriptDate(set.ended ?? set.started),
    status: result.status,
    status_name: scriptStatusNames[result.status],
    exit_status: result.exitStatus,
    started: scriptDate(set.started),
    ended: scriptDate(set.ended),
    runtime: runtime(set),
    starttime: set.started / 1000,
    endtime: set.ended === null ? null : set.ended / 1000,
    estimated_runtime: runtime(set),
    parameters: {},
    script_id: result.id,
    script_revision_id: null,
    suppressed: false,
    ...(withOutput ? outputs : {}),
  };
}

/** Devices with their addresses on a bus, in the order of the machine: `pci@0000:00:03.0`, `scsi@2:0.0.0`. */
function lshw({ interfaces, disks, buses }: Readonly<Machine>): string {
  const node = (id: string, usual: string, name: string): string => {
    const bus = buses?.[name.replace('/dev/', '')] ?? usual;
    return `<node id="${id}"><businfo>${bus}</businfo><logicalname>${name}</logicalname></node>`;
  };
  const nics = interfaces.filter(({ type }) => type === 'physical');
  const devices = [
    ...nics.map(({ name }, index) =>
      node('network', `pci@0000:00:${(index + 3).toString(16).padStart(2, '0')}.0`, name),
    ),
    ...disks.map(({ id, name }) => node('disk', `scsi@${id}:0.0.0`, `/dev/${name}`)),
  ];
  return `<?xml version="1.0"?>\n<list><node id="machine">${devices.join('')}</node></list>\n`;
}

function viewSet(call: Call, machine: Readonly<Machine>, set: ScriptSet): object {
  const names = call.query.words('filters');
  const withOutput = call.query.flag('include_output');
  const shown = set.results.filter(
    ({ id, name }) => names.length === 0 || names.includes(name) || names.includes(String(id)),
  );
  return {
    id: set.id,
    system_id: machine.id,
    type: types[set.type].n,
    type_name: types[set.type].name,
    status: set.status,
    status_name: scriptStatusNames[set.status],
    last_ping: null,
    started: scriptDate(set.started),
    ended: scriptDate(set.ended),
    runtime: runtime(set),
    results: shown.map((result) => viewResult(machine, set, result, withOutput)),
    resource_uri: `/MAAS/api/2.0/nodes/${machine.id}/results/${set.id}/`,
  };
}

/** A set by id, or the newest of a type as `current-commissioning`. */
function setOf(call: Call, machine: Readonly<Machine>): ScriptSet {
  const wanted = call.parts[1] ?? '';
  const type = /^current-(\w+)$/.exec(wanted)?.[1] as ScriptSet['type'] | undefined;
  const id = type === undefined ? Number(wanted) : machine.current[type];
  return machine.scriptSets.find((set) => set.id === id) ?? refuse(notFound('ScriptSet'));
}

export const listResults: Handler = (call) => {
  const machine = machineOf(call);
  const wanted = call.query.words('type');
  const known = Object.entries(types);
  const unknown = wanted.filter((word) => !known.some(([name, { n }]) => name === word || String(n) === word));
  if (unknown.length > 0) {
    const list = unknown.map((word) => `Select a valid choice. ${word} is not one of the available choices.`);
    refuse(invalidForm({ type: list }));
  }
  const shown = machine.scriptSets.filter(
    ({ type }) => wanted.length === 0 || wanted.includes(type) || wanted.includes(String(types[type].n)),
  );
  return json(shown.map((set) => viewSet(call, machine, set)));
};

export const readResult: Handler = (call) => {
  const machine = machineOf(call);
  return json(viewSet(call, machine, setOf(call, machine)));
};

/** The outputs as one text; a real MAAS packs several into an archive. */
export const downloadResult: Handler = (call) => {
  const machine = machineOf(call);
  const set = setOf(call, machine);
  return {
    ...json(null),
    type: 'text/plain; charset=utf-8',
    body: set.results.map(({ output }) => output).join(''),
  };
};

export const deleteResult: Handler = (call) => {
  const machine = administeredMachineOf(call);
  const set = setOf(call, machine);
  call.region.editMachine(machine).scriptSets = machine.scriptSets.filter(({ id }) => id !== set.id);
  return deleted();
};
