import type { Form } from './form.ts';
import { type FormErrors, REQUIRED } from './form-errors.ts';
import { canonicalAddress } from './network/ip.ts';

/** The fields of MAAS' forms. Each gives the value, or null when it is absent, empty or wrong. */

interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

function checkBounds(errors: FormErrors, field: string, value: number, { min, max }: Bounds): number | null {
  if (min !== undefined && value < min) errors.add(field, `Ensure this value is greater than or equal to ${min}.`);
  else if (max !== undefined && value > max) errors.add(field, `Ensure this value is less than or equal to ${max}.`);
  else return value;
  return null;
}

export function integerField(form: Form, errors: FormErrors, field: string, bounds: Bounds = {}): number | null {
  const text = form.text(field)?.trim() ?? null;
  if (text === null) return null;
  if (/^-?\d+(?:\.0*)?$/.test(text)) return checkBounds(errors, field, Number(text), bounds);
  errors.add(field, 'Enter a whole number.');
  return null;
}

const units: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, g: 1e9, t: 1e12, p: 1e15, e: 1e18 };

/** Bytes, also as `10G`, which is 10,000,000,000. */
export function bytesField(form: Form, errors: FormErrors, field: string, bounds: Bounds = {}): number | null {
  const text = form.text(field)?.trim() ?? null;
  if (text === null) return null;
  const found = /^(-?\d+)([kmgtpe]?)$/i.exec(text);
  if (found) return checkBounds(errors, field, Number(found[1]) * (units[(found[2] ?? '').toLowerCase()] ?? 1), bounds);
  errors.add(field, 'Enter a valid value.');
  return null;
}

export function choiceField<Choice extends string>(
  form: Form,
  errors: FormErrors,
  field: string,
  choices: readonly Choice[],
): Choice | null {
  const text = form.text(field);
  if (text === null || choices.includes(text as Choice)) return text as Choice | null;
  const known = choices.map((choice) => `'${choice}'`).join(', ');
  errors.add(field, `'${text}' is not a valid ${field}.  It should be one of: ${known}.`);
  return null;
}

const uuid4 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;

/** A UUID of version 4, kept as it was written. */
export function uuidField(form: Form, errors: FormErrors, field = 'uuid'): string | null {
  const text = form.text(field)?.trim() ?? '';
  if (text === '' || uuid4.test(text)) return text || null;
  const { length } = text;
  if (length < 32) errors.add(field, `Ensure this value has at least 32 characters (it has ${length}).`);
  if (length > 36) errors.add(field, `Ensure this value has at most 36 characters (it has ${length}).`);
  errors.add(field, 'Enter a valid value.');
  return null;
}

/** An address in its canonical form. */
export function addressField(form: Form, errors: FormErrors, field: string): string | null {
  const text = form.text(field)?.trim() ?? null;
  if (text === null) return null;
  const address = canonicalAddress(text);
  if (address === null) {
    errors.add(field, text.includes(':') ? 'This is not a valid IPv6 address.' : 'Enter a valid IPv4 or IPv6 address.');
  }
  return address;
}

/** A text without blanks around it, of at most `max` characters. */
export function textField(form: Form, errors: FormErrors, field: string, max: number): string | null {
  const text = form.text(field)?.trim() || null;
  if (text === null || text.length <= max) return text;
  errors.add(field, `Ensure this value has at most ${max} characters (it has ${text.length}).`);
  return null;
}

export function requiredText(form: Form, errors: FormErrors, field: string): string {
  const text = form.text(field)?.trim() ?? '';
  if (text === '') errors.add(field, REQUIRED);
  return text;
}

/** A boolean that may also be unknown: any other word than true and false. */
export function maybeField(form: Form, field: string): boolean | null {
  const text = form.text(field)?.toLowerCase();
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : null;
}

/** Values chosen among those offered. The first that is not offered ends the reading, as in MAAS. */
export function choicesField(
  form: Form,
  errors: FormErrors,
  field: string,
  isOffered: (value: string) => boolean,
): string[] {
  const given = form.all(field).filter((value) => value !== '');
  const wrong = given.find((value) => !isOffered(value));
  if (wrong === undefined) return given;
  errors.add(field, `Select a valid choice. ${wrong} is not one of the available choices.`);
  return [];
}
