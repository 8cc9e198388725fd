import { invalidForm, refuse } from './answer.ts';

/** MAAS' words for a reference to something that is not there. */
export const NO_SUCH_CHOICE = 'Select a valid choice. That choice is not one of the available choices.';

export const REQUIRED = 'This field is required.';

/** Problems of a form, by field; `__all__` for the form as a whole. */
export class FormErrors {
  readonly #errors = new Map<string, string[]>();

  add(field: string, ...texts: readonly string[]): void {
    this.#errors.set(field, [...(this.#errors.get(field) ?? []), ...texts]);
  }

  /** Takes a field's errors back. */
  drop(field: string): void {
    this.#errors.delete(field);
  }

  /** True when any of the fields is wrong. */
  has(...fields: readonly string[]): boolean {
    return fields.some((field) => this.#errors.has(field));
  }

  /** Ends the request with 400 if anything is wrong. */
  refuse(): void {
    if (this.#errors.size > 0) refuse(invalidForm(Object.fromEntries(this.#errors)));
  }
}

/** Refuses a form for one reason. */
export function refuseField(field: string, ...texts: readonly string[]): never {
  return refuse(invalidForm({ [field]: texts }));
}
