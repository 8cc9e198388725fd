import type { Form } from './form.ts';

/** MAAS' built-in testing scripts; any other name is a form error. */
export const testScripts = [
  'smartctl-validate',
  'smartctl-short',
  'smartctl-long',
  'smartctl-conveyance',
  'memtester',
  'internet-connectivity',
  'stress-ng-cpu-long',
  'stress-ng-cpu-short',
  'stress-ng-memory-long',
  'stress-ng-memory-short',
  'ntp',
  'badblocks',
  'badblocks-destructive',
  '7z',
  'fio',
] as const;

/** Form errors of `testing_scripts`; none when each is known. */
export function scriptErrors(form: Form): Record<string, readonly string[]> {
  const unknown = form
    .words('testing_scripts')
    .filter((name) => name !== 'none' && !(testScripts as readonly string[]).includes(name));
  if (unknown.length === 0) return {};
  return {
    testing_scripts: unknown.map((name) => `Select a valid choice. ${name} is not one of the available choices.`),
  };
}
