// Buttons that ask before they act, and their form fields.
import type { ComponentChildren, TargetedSubmitEvent } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Role } from '../../core/words.ts';
import { operator, type Problem as Refusal } from './api.ts';
import { actorName, forbidden, hasToken } from './identity.ts';
import { copy, Loaded, Problem, say } from './parts.tsx';
import { filterBy, go, place } from './router.ts';
import { type Loading, problemOf, TYPING_MS } from './store.ts';

/** Its value, and its text. */
export type Option = readonly [value: string, text: string];

/** Each value is its own text. */
export const optionsOf = (all: Iterable<string>): Option[] => [...all].map((one) => [one, one]);

interface AnyField {
  readonly name: string;
  readonly label: string;
  readonly needed?: boolean;
  readonly placeholder?: string;
  readonly pattern?: string;
  readonly autofocus?: boolean;
}

/** A field of a form. */
export type FormField = AnyField &
  (
    | { readonly type?: 'text'; readonly value?: string }
    | { readonly type: 'select'; readonly value?: string | undefined; readonly options: readonly Option[] }
    | { readonly type: 'checkbox'; readonly value?: boolean }
    | { readonly type: 'choices'; readonly value?: readonly string[]; readonly options: readonly Option[] }
    | { readonly type: 'file'; readonly accept: string }
    /** All files of a folder. */
    | { readonly type: 'folder' }
  );

/** A filled form. */
export interface Given {
  /** For the report and the audit. */
  readonly note: { readonly reason?: string };
  /** By field, without those that were left empty. */
  readonly texts: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, File>>;
  readonly filesOf: (field: string) => readonly File[];
  readonly chosen: (field: string) => string[];
}

interface Asked<Plan> {
  readonly label: string;
  /** Default: the label. */
  readonly title?: string;
  readonly explain?: string;
  readonly fields?: readonly FormField[];
  /** What will be touched, by name, for the form as it is filled now. */
  readonly preview?: (given: Given) => ComponentChildren;
  /** A preview of the plan that `act` carries out, by `Planned`: what is chosen waits for its plan. */
  readonly plan?: (given: Given, onPlan: (plan: Loading<Plan>) => void) => ComponentChildren;
  /** Whether it asks why. */
  readonly reason?: boolean;
  /** Whether it must be told why. */
  readonly needsReason?: boolean;
  /** Whether it is done in someone's name. */
  readonly signed?: boolean;
  readonly danger?: boolean;
  /** Shown when it is done, unless `act` answers a text. */
  readonly done?: string;
  /** Where it is rehearsed, as it is chosen: the address of that view. */
  readonly rehearse?: (given: Given, plan: Plan) => string;
  /** The same as a command to type. */
  readonly command?: (given: Given) => string;
  /** May refuse by throwing. The plan is the one that is shown, where there is `plan`. */
  readonly act: (given: Given, plan: Plan) => unknown;
}

interface ActionProps<Plan> extends Asked<Plan> {
  /** False, or why it cannot be done now. */
  readonly disabled?: string | false;
  /** The role that may. */
  readonly needs?: Role;
  /** What most people come for: one of a view. */
  readonly main?: boolean;
  /** It is open where the address says `do` and this. */
  readonly verb?: string | undefined;
}

/** A button that asks before it acts: what will happen, and why. */
export function Action<Plan = undefined>({
  disabled = false,
  needs = 'operator',
  main = false,
  verb,
  ...asked
}: ActionProps<Plan>) {
  const { label, danger = false } = asked;
  const [open, setOpen] = useState(false);
  const isWanted = verb !== undefined && place.value.query.get('do') === verb;
  useEffect(() => {
    if (!isWanted) return;
    filterBy({ do: '' });
    press();
  }, [isWanted]);
  const why = forbidden(needs) ?? (disabled || undefined);
  // A disabled action stays reachable by keyboard, and shows why.
  const press = () => (why === undefined ? setOpen(true) : say(why));
  return (
    <>
      <button
        type="button"
        class={danger ? 'danger' : main ? 'main' : ''}
        title={why}
        aria-disabled={why === undefined ? undefined : 'true'}
        onClick={press}
      >
        {label}
      </button>
      {open && <Ask {...asked} onClose={() => setOpen(false)} />}
    </>
  );
}

/** The fields that no plan depends on. */
const ABOUT_IT: readonly string[] = ['reason', 'by'];

function Ask<Plan>(asked: Asked<Plan> & { readonly onClose: () => void }) {
  const {
    label,
    title = label,
    explain,
    preview,
    plan,
    act,
    rehearse,
    command,
    fields = [],
    reason = true,
    needsReason = false,
    signed = true,
    danger,
    done,
    onClose,
  } = asked;
  const dialog = useRef<HTMLDialogElement>(null);
  const [problem, setProblem] = useState<Refusal>();
  const [busy, setBusy] = useState(false);
  const [filled, setFilled] = useState<Given>();
  const form = useRef<HTMLFormElement>(null);
  const typing = useRef<number>(undefined);
  const [isTyping, setTyping] = useState(false);
  const [shown, setShown] = useState<Shown<Plan>>();
  const look = (): void => {
    setTyping(false);
    if (form.current !== null) setFilled(givenIn(new FormData(form.current)));
  };
  // A plan is made on request: not for every letter of a name.
  const lookLater = ({ target }: Event): void => {
    if (target !== null && 'name' in target && ABOUT_IT.includes(String(target.name))) return;
    setTyping(true);
    clearTimeout(typing.current);
    typing.current = setTimeout(look, TYPING_MS);
  };
  useEffect(() => {
    dialog.current?.showModal();
    look();
    return () => clearTimeout(typing.current);
  }, []);
  const close = () => dialog.current?.close();
  const whyId = useId();
  const planned = !isTyping && shown?.of === filled ? shown?.plan : undefined;
  const why = plan && whyNot(planned);
  /** What is filled in, if it can be acted upon; else it says what is missing. */
  const ready = (form: HTMLFormElement): Given | undefined => {
    if (why !== undefined) return undefined;
    const filled = new FormData(form);
    const missing = fields.find(({ name, type, needed }) => type === 'choices' && needed && !filled.has(name));
    if (missing === undefined) return givenIn(filled);
    setProblem({ detail: `${missing.label}: no selection.`, hint: 'Select at least one.' });
    return undefined;
  };
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const given = ready(form);
    if (given === undefined) return;
    if (given.texts.by !== undefined) operator.name = given.texts.by;
    setBusy(true);
    try {
      const said = await act(given, planned?.data as Plan);
      close();
      say(typeof said === 'string' ? said : (done ?? `${title}: done.`));
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const toRehearsal = (address: NonNullable<typeof rehearse>): void => {
    if (!form.current?.reportValidity()) return;
    const given = ready(form.current);
    if (given === undefined) return;
    const href = address(given, planned?.data as Plan);
    close();
    go(href);
  };
  const asks = preview !== undefined || plan !== undefined;
  return (
    <dialog ref={dialog} class={asks ? 'wide' : undefined} aria-label={title} onClose={onClose}>
      <form ref={form} method="dialog" onSubmit={submitted(submit)} onInput={asks ? lookLater : undefined}>
        <h2>{title}</h2>
        {explain && <p>{explain}</p>}
        {fields.map((field) => (
          <Field key={field.name} field={field} />
        ))}
        {reason && (
          <Field
            field={{
              name: 'reason',
              label: 'Reason',
              needed: needsReason,
              placeholder: 'kept in the report and the audit trail',
              autofocus: fields.length === 0,
            }}
          />
        )}
        {signed &&
          (hasToken() ? (
            <p class="quiet">As {actorName()}.</p>
          ) : (
            <Field field={{ name: 'by', label: 'Your name', value: operator.name, placeholder: 'who does it' }} />
          ))}
        {asks && (
          <div class="preview" role="region" aria-label="What will be touched" tabindex={0}>
            {filled && preview?.(filled)}
            {filled && plan?.(filled, (one) => setShown((before) => newest(before, { of: filled, plan: one })))}
          </div>
        )}
        <Problem of={problem} />
        {plan && (
          <p id={whyId} class="quiet" role="status">
            {why}
          </p>
        )}
        <div class="actions">
          <button
            type="submit"
            class={danger ? 'danger main' : 'main'}
            disabled={busy}
            aria-disabled={why === undefined ? undefined : 'true'}
            aria-describedby={plan && whyId}
          >
            {busy ? 'Please wait …' : label}
          </button>
          {rehearse && (
            <button
              type="button"
              aria-disabled={why === undefined ? undefined : 'true'}
              onClick={() => toRehearsal(rehearse)}
            >
              Rehearse
            </button>
          )}
          <button type="button" onClick={close}>
            Close
          </button>
          {command && (
            <button
              type="button"
              class="link apart"
              onClick={() => form.current && void copy(command(givenIn(new FormData(form.current))))}
            >
              Copy as command
            </button>
          )}
        </div>
      </form>
    </dialog>
  );
}

/** The plan of a form as it was filled. */
interface Shown<Plan> {
  readonly of: Given;
  readonly plan: Loading<Plan>;
}

/** The one that was there, where the other says the same: nothing is drawn anew. */
const newest = <Plan,>(before: Shown<Plan> | undefined, now: Shown<Plan>): Shown<Plan> =>
  before !== undefined &&
  before.of === now.of &&
  before.plan.data === now.plan.data &&
  before.plan.problem === now.plan.problem &&
  before.plan.loading === now.plan.loading
    ? before
    : now;

/** Why a plan cannot be carried out; undefined where it can. */
function whyNot(plan: Loading<unknown> | undefined): string | undefined {
  if (plan === undefined || plan.loading) return 'Waiting for the plan of what is chosen.';
  return plan.data === undefined ? 'There is no plan of what is chosen: see above.' : undefined;
}

interface PlannedProps<Plan> {
  readonly from: Loading<Plan>;
  readonly onPlan: (plan: Loading<Plan>) => void;
  readonly children: (plan: Plan) => ComponentChildren;
}

/** The plan that a dialog carries out: shown, and the dialog told of it. */
export function Planned<Plan>({ from, onPlan, children }: PlannedProps<Plan>) {
  useEffect(() => onPlan(from));
  return <Loaded from={from}>{children}</Loaded>;
}

/** Handles what was submitted here, not by the browser. */
export const submitted =
  (handle: (form: HTMLFormElement) => unknown) =>
  (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    void handle(event.currentTarget);
  };

function givenIn(form: FormData): Given {
  const entries = [...form];
  const texts = Object.fromEntries(
    entries.flatMap(([key, value]) => (isText(value) && value !== '' ? [[key, value]] : [])),
  );
  const files = Object.fromEntries(entries.flatMap(([key, value]) => (isText(value) ? [] : [[key, value]])));
  return {
    note: texts.reason === undefined ? {} : { reason: texts.reason },
    texts,
    files,
    // A field of files that is left empty has one without a name.
    filesOf: (field) => form.getAll(field).flatMap((one) => (isText(one) || one.name === '' ? [] : [one])),
    chosen: (field) => form.getAll(field).filter(isText),
  };
}

export const isText = (value: FormDataEntryValue): value is string => typeof value === 'string';

/** A labelled field of a form. */
export function Field({ field }: { readonly field: FormField }) {
  const { name, label, needed = false, placeholder, pattern, autofocus } = field;
  const shared = { name, required: needed, placeholder, pattern, autofocus };
  switch (field.type) {
    case 'checkbox':
      return (
        <label class="check">
          <input type="checkbox" name={name} value="true" defaultChecked={field.value ?? false} /> {label}
        </label>
      );
    case 'choices':
      return <Choices {...field} />;
    case 'select':
      return (
        <label class="field">
          <span>{label}</span>
          <select {...shared}>
            <Options all={field.options} chosen={field.value} />
          </select>
        </label>
      );
    default:
      return (
        <label class="field">
          <span>{label}</span>
          <input {...inputOf(field)} {...shared} />
        </label>
      );
  }
}

function inputOf(field: Extract<FormField, { readonly type?: 'text' | 'file' | 'folder' }>) {
  if (field.type === 'folder') return { type: 'file', multiple: true, webkitdirectory: true } as const;
  if (field.type === 'file') return { type: 'file', accept: field.accept, autocomplete: 'off' } as const;
  return { type: 'text', defaultValue: field.value ?? '', autocomplete: 'off' } as const;
}

const Options = ({ all, chosen }: { readonly all: readonly Option[]; readonly chosen: string | undefined }) =>
  all.map(([value, text]) => (
    <option key={value} value={value} selected={value === chosen}>
      {text}
    </option>
  ));

/** More than these are searched, not scrolled through. */
const MANY = 10;

interface ChoicesProps {
  readonly name: string;
  readonly label: string;
  readonly options: readonly Option[];
  /** The initial choice. */
  readonly value?: readonly string[];
}

/** Some of many, by check marks. */
export function Choices({ name, label, value = [], options }: ChoicesProps) {
  const [wanted, setWanted] = useState('');
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const shows = ([, text]: Option): boolean => text.toLowerCase().includes(wanted.toLowerCase());
  const mark = (is: boolean): void => {
    // By clicks, of which the form learns.
    for (const one of box.current?.querySelectorAll<HTMLInputElement>('label:not([hidden]) input') ?? [])
      if (one.checked !== is) one.click();
  };
  return (
    <div class="field choices" role="group" aria-labelledby={id}>
      <span id={id}>{label}</span>
      {options.length > MANY && (
        <div class="actions">
          <input
            type="search"
            aria-label={`Find in ${label}`}
            placeholder="find"
            onInput={(event) => setWanted(event.currentTarget.value)}
            autocomplete="off"
          />
          <button type="button" onClick={() => mark(true)}>
            All shown
          </button>
          <button type="button" onClick={() => mark(false)}>
            None
          </button>
        </div>
      )}
      <div class="options" ref={box}>
        {options.length === 0 && <span class="quiet">There is none.</span>}
        {options.map((one) => (
          <label class="check" key={one[0]} hidden={!shows(one)}>
            <input type="checkbox" name={name} value={one[0]} defaultChecked={value.includes(one[0])} /> {one[1]}
          </label>
        ))}
      </div>
    </div>
  );
}

/** Asks before which groups or tasks a run waits for approval; `heldBefore` reads the answer. */
export const holdField = (what: 'groups' | 'tasks', value: readonly string[] = []): FormField => ({
  name: 'hold_before',
  label: `Wait for approval before these ${what}`,
  value: value.join(', '),
  placeholder: 'none; comma-separated names; *: before any change',
});

export function heldBefore(text = ''): { readonly hold_before?: readonly string[] } {
  const names = listed(text);
  return names.length === 0 ? {} : { hold_before: names };
}

/** Names with commas between. */
export const listed = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);

interface FiltersProps {
  readonly label: string;
  /** Their fields in the address. */
  readonly of: readonly string[];
  readonly children: ComponentChildren;
}

/** Shows all of a list from its first page on. */
export const showAll = (of: readonly string[]): void =>
  filterBy(Object.fromEntries([...of, 'before', 'page'].map((field) => [field, ''])));

/** The filters of a list; on a phone behind a button. */
export function Filters({ label, of, children }: FiltersProps) {
  const [isOpen, setOpen] = useState(false);
  const used = of.filter((field) => place.value.query.get(field)).length;
  return (
    <form
      class={isOpen ? 'filters open' : 'filters'}
      role="search"
      aria-label={label}
      onSubmit={(event) => event.preventDefault()}
    >
      <button type="button" class="menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Filters{used > 0 && ` (${used})`}
      </button>
      {children}
      {used > 0 && (
        <button type="button" onClick={() => showAll(of)}>
          Show all
        </button>
      )}
    </form>
  );
}

interface FilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string) => void;
}

/** A filter whose value is in the address. */
export const Choice = ({
  label,
  value = '',
  options,
  onChange,
}: FilterProps & { readonly options: readonly Option[] }) => (
  <label class="field">
    <span>{label}</span>
    <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <Options all={options} chosen={value} />
    </select>
  </label>
);

/** A text filter, which waits until one stops to write. */
export function Search({ label, value = '', onChange, placeholder }: FilterProps & { readonly placeholder?: string }) {
  const timer = useRef<number>(undefined);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // Chosen elsewhere: shown here, unless it is being written.
    if (input.current !== null && input.current !== document.activeElement) input.current.value = value;
  }, [value]);
  const later = (text: string): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onChange(text), 250);
  };
  return (
    <label class="field">
      <span>{label}</span>
      <input
        ref={input}
        type="search"
        defaultValue={value}
        placeholder={placeholder}
        onInput={(event) => later(event.currentTarget.value)}
        autocomplete="off"
      />
    </label>
  );
}
