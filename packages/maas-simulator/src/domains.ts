import { badRequest, deleted, json, notFound, refuse } from './answer.ts';
import { type Call, type Handler, requireRight } from './call.ts';
import { FormErrors, REQUIRED } from './form-errors.ts';
import { integerField } from './form-fields.ts';
import type { Domain } from './records.ts';
import type { Region } from './region.ts';

export const viewDomain = (domain: Readonly<Domain>): object => ({
  authoritative: domain.authoritative,
  ttl: domain.ttl,
  name: domain.name,
  is_default: domain.id === 0,
  resource_record_count: 0,
  id: domain.id,
  resource_uri: `/MAAS/api/2.0/domains/${domain.id}/`,
});

/** By id or name. */
export const findDomain = (region: Region, text: string): Readonly<Domain> | undefined =>
  region.domains.get(text) ?? [...region.domains.values()].find(({ name }) => name === text);

/** MAAS' objection to the labels of a name in DNS; null if none. */
function labelProblem(name: string): string | null {
  if (name.length > 255) return 'Hostname is too long.  Maximum allowed is 255 characters.';
  for (const label of name.split('.')) {
    if (label === '') return 'DNS name contains an empty label.';
    if (label.length > 63) return `Label is too long: '${label}'.  Maximum allowed is 63 characters.`;
    if (/^-|-$/.test(label)) return `Label cannot start or end with hyphen: '${label}'.`;
    if (/[^a-z0-9-]/i.test(label)) return `Label contains disallowed characters: '${label}'.`;
  }
  return null;
}

/** The same for a host name, which may have its domain behind it. */
export function hostnameProblem(name: string): string | null {
  const host = name.split('.')[0] ?? '';
  if (name.length <= 255 && host.includes('_')) return `Host label cannot contain underscore: '${host}'.`;
  return labelProblem(name);
}

export const listDomains: Handler = ({ region }) => json([...region.domains.values()].map(viewDomain));

const domainOf = ({ region, parts }: Call): Readonly<Domain> =>
  findDomain(region, parts[0] ?? '') ?? refuse(notFound('Domain'));

export const readDomain: Handler = (call) => json(viewDomain(domainOf(call)));

function nameField({ form, region }: Call, errors: FormErrors, self: Readonly<Domain> | null): string {
  const name = form.get('name')?.trim().replace(/\.$/, '') ?? self?.name ?? '';
  if (name === '') errors.add('name', REQUIRED);
  else if (labelProblem(name) !== null) {
    errors.add(
      'name',
      /[^a-z0-9.-]/i.test(name) ? 'Domain name contains invalid characters.' : `Invalid domain name: ${name}.`,
    );
  } else if ([...region.domains.values()].some((other) => other.name === name && other.id !== self?.id)) {
    errors.add('name', 'Domain with this Name already exists.');
  }
  return name;
}

function readForm(call: Call, self: Readonly<Domain> | null): Omit<Domain, 'id'> {
  const { form } = call;
  const errors = new FormErrors();
  const name = nameField(call, errors, self);
  const ttl = integerField(form, errors, 'ttl', { min: 1 }) ?? self?.ttl ?? null;
  const authoritative =
    form.text('authoritative') === null ? (self?.authoritative ?? true) : form.flag('authoritative');
  errors.refuse();
  return { name, ttl, authoritative };
}

export const createDomain: Handler = (call) => {
  requireRight(call, 'can_edit_global_entities');
  const fields = readForm(call, null);
  const id = call.region.next('domain');
  return json(viewDomain(call.region.domains.put(String(id), { id, ...fields })));
};

export const updateDomain: Handler = (call) => {
  const domain = domainOf(call);
  requireRight(call, 'can_edit_global_entities');
  const fields = readForm(call, domain);
  for (const machine of [...call.region.machines.values()].filter((one) => one.domain === domain.name)) {
    call.region.rename(machine, { domain: fields.name });
  }
  return json(viewDomain(Object.assign(call.region.domains.edit(String(domain.id)), fields)));
};

export const deleteDomain: Handler = (call) => {
  const { id, name } = domainOf(call);
  requireRight(call, 'can_edit_global_entities');
  if (id === 0) refuse(badRequest('This domain is the default domain, it cannot be deleted.'));
  const isUsed = [...call.region.machines.values()].some(({ domain }) => domain === name);
  if (isUsed) refuse(badRequest('This domain has machines; it cannot be deleted.'));
  call.region.domains.delete(String(id));
  return deleted();
};
