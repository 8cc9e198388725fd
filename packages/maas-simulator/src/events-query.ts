import { badRequest, json, refuse } from './answer.ts';
import { type Handler, may, maySee } from './call.ts';
import type { Form } from './form.ts';
import { eventLevels, type MaasEvent, type Machine } from './records.ts';
import type { Region } from './region.ts';

const maxEvents = 1000;
const usualEvents = 100;

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
const months = 'Jan. Feb. March April May June July Aug. Sept. Oct. Nov. Dec.'.split(' ');
const two = (n: number): string => String(n).padStart(2, '0');

/** `Sat, 21 Nov. 2026 13:21:03`: the text date of MAAS' events, UTC. */
function eventDate(at: number): string {
  const date = new Date(at);
  const clock = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':');
  return `${days[date.getUTCDay()]}, ${two(date.getUTCDate())} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()} ${clock}`;
}

const viewEvent = (event: MaasEvent): object => ({
  username: event.username,
  node: event.node,
  hostname: event.hostname,
  id: event.id,
  level: event.level,
  created: eventDate(event.at),
  type: event.type,
  description: event.description,
});

function readNumber(query: Form, name: string): number | null {
  const value = query.text(name);
  if (value === null) return null;
  if (!/^\d+$/.test(value)) refuse(badRequest(`Invalid ${name}: ${value} is not a whole number`));
  return Number(value);
}

/** Makes a test of events for all filters except level and position. */
function matcher(region: Region, query: Form): (event: MaasEvent) => boolean {
  const tests: ((event: MaasEvent, machine: Readonly<Machine> | undefined) => boolean)[] = [];
  const among = (name: string, value: (event: MaasEvent, machine: Readonly<Machine> | undefined) => string): void => {
    const wanted = new Set(query.all(name).filter((each) => each !== ''));
    if (wanted.size > 0) tests.push((event, machine) => wanted.has(value(event, machine)));
  };
  among('id', (event) => event.node);
  among('hostname', (event) => event.hostname);
  among('owner', (event) => event.username);
  among('zone', (_event, machine) => machine?.zone ?? '');
  among('domain', (_event, machine) => machine?.domain ?? '');
  among('agent_name', (_event, machine) => machine?.agentName ?? '');
  const macs = new Set(query.all('mac_address').flatMap((mac) => region.machineWithMac(mac)?.id ?? []));
  if (query.has('mac_address')) tests.push((event) => macs.has(event.node));
  return (event) => {
    const machine = region.machines.get(event.node);
    return tests.every((test) => test(event, machine));
  };
}

/** `events/?op=query`: newest first, `before` and `after` an event id. */
export const queryEvents: Handler = (call) => {
  const { query, region, path } = call;
  const limit = readNumber(query, 'limit') ?? usualEvents;
  if (limit > maxEvents) refuse(badRequest(`Requested number of events ${limit} is greater than limit: ${maxEvents}`));
  const level = query.text('level') ?? 'INFO';
  if (!Object.hasOwn(eventLevels, level)) refuse(badRequest(`Unrecognised log level: ${level}`));
  const least = eventLevels[level as keyof typeof eventLevels];
  const before = readNumber(query, 'before');
  const after = readNumber(query, 'after');
  if (before !== null && after !== null)
    refuse(badRequest('There is undetermined behaviour when both `after` and `before` are specified.'));
  const matches = matcher(region, query);
  const isWanted = (event: MaasEvent): boolean =>
    eventLevels[event.level] >= least && matches(event) && maySeeNode(event);
  const maySeeNode = (event: MaasEvent): boolean => {
    const machine = region.machines.get(event.node);
    return machine === undefined ? may(call.user, 'can_edit_machines') : maySee(call.user, machine);
  };

  const { entries } = region.events;
  const found: MaasEvent[] = [];
  if (after !== null) {
    // The events directly after the given one, then reversed to newest first.
    for (let i = firstAfter(entries, after); i < entries.length && found.length < limit; i++) {
      const event = entries[i];
      if (event && isWanted(event)) found.push(event);
    }
    found.reverse();
  } else {
    const start = before === null ? entries.length : firstAfter(entries, before - 1);
    for (let i = start - 1; i >= 0 && found.length < limit; i--) {
      const event = entries[i];
      if (event && isWanted(event)) found.push(event);
    }
  }

  const page = (edge: 'before' | 'after', id: number | undefined): string => {
    const kept = query.entries().flatMap(([name, values]) => values.map((value) => [name, value] as const));
    const pairs = kept.filter(([name]) => name !== 'before' && name !== 'after');
    const search = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value]));
    if (id !== undefined) search.set(edge, String(id));
    return `${path}?${search}`;
  };
  const newest = found[0]?.id ?? after ?? undefined;
  const oldest = found.at(-1)?.id;
  return json({
    count: found.length,
    events: found.map(viewEvent),
    next_uri: page('after', newest),
    prev_uri: oldest === undefined ? null : page('before', oldest),
  });
};

/** Index of the first event with a greater id; ids grow along the log. */
function firstAfter(entries: readonly MaasEvent[], id: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.id ?? 0) <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}
