import { type InputCheck, storable } from '../input.js';
import type { NodeChange } from '../ports/node-store.js';

const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;

/** The columns a new node and a change of one set; an absent field is undefined, which sets nothing. */
export function nodeColumnsOf(check: InputCheck, at: string, change: NodeChange) {
  type Field = keyof NodeChange & string;
  const given = <K extends Field, T>(field: K, columnOf: (value: NonNullable<NodeChange[K]>, path: string) => T) => {
    const value = change[field];
    return value == null ? undefined : columnOf(value as NonNullable<NodeChange[K]>, `${at}${field}`);
  };
  /** The same for a field that may be cleared. */
  const clearable = <K extends Field, T>(field: K, columnOf: (value: NonNullable<NodeChange[K]>, path: string) => T) =>
    change[field] === null ? null : given(field, columnOf);
  const key = (value: string, path: string) => check.key(path, value);
  const json = (value: unknown, path: string) => check.json(path, value);
  const flag = (value: boolean) => Number(value);
  const number = (value: number, path: string) => check.count(path, value);
  return {
    uuid: given('uuid', key),
    name: given('name', key),
    hostname: given('hostname', key),
    site: clearable('site', (value, path) => check.siteName(path, value)),
    mac: clearable('mac', (value, path) => macOf(check, path, value)),
    ip: clearable('ip', key),
    roles: given('roles', json),
    pendingRoles: given('pendingRoles', json),
    primaryRoles: given('primaryRoles', json),
    status: given('status', key),
    online: given('online', flag),
    pendingAddition: given('pendingAddition', flag),
    pendingDeletion: given('pendingDeletion', flag),
    errorType: clearable('errorType', key),
    errorMsg: clearable('errorMsg', storable),
    progress: given('progress', number),
    groupId: clearable('groupId', number),
    platformName: clearable('platformName', storable),
    manufacturer: clearable('manufacturer', storable),
    osPlatform: clearable('osPlatform', storable),
    meta: given('meta', json),
    attributes: given('attributes', json),
    labels: given('labels', json),
    facts: given('facts', json),
    timestamp: given('timestamp', (value, path) => check.time(path, value)),
  };
}

function macOf(check: InputCheck, path: string, value: string): string {
  const mac = value.toLowerCase().replaceAll('-', ':');
  if (!MAC.test(mac)) {
    check.refuse(path, `${path} ${JSON.stringify(value)} is not a MAC address.`, 'Write it as 52:54:00:12:34:56.');
  }
  return mac;
}
