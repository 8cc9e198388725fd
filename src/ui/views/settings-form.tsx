import type { ComponentChildren, TargetedInputEvent } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Answer } from '../kit/api.ts';
import { fieldOf, textOf } from '../kit/own-data.ts';

/** Groups of settings, as release and plugins declare them. */
export type Editable = Answer<'GET /clusters/:id/attributes'>['editable'];

/** Changed values by `group.setting`; of a group that is switched on or off by `group.metadata`. */
export type Draft = Readonly<Record<string, unknown>>;

type Plan = Answer<'POST /clusters/:id/attributes/plan'>;

interface FormProps {
  readonly editable: Editable;
  readonly restricted: Plan['restricted'];
  readonly findings: Plan['findings'];
  readonly disabled: boolean;
  readonly onChange: (path: string, value: unknown) => void;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The settings with the changed values. */
export function withDraft(editable: Editable, draft: Draft): Editable {
  if (Object.keys(draft).length === 0) return editable;
  return Object.fromEntries(
    Object.entries(editable).map(([group, settings]) => [
      group,
      isFields(settings)
        ? Object.fromEntries(
            Object.entries(settings).map(([name, one]) => [name, changed(one, name, draft[`${group}.${name}`])]),
          )
        : settings,
    ]),
  );
}

function changed(setting: unknown, name: string, value: unknown): unknown {
  if (value === undefined || !isFields(setting)) return setting;
  return name === 'metadata' ? { ...setting, enabled: value } : { ...setting, value };
}

const weightOf = (of: unknown): number => {
  const weight = fieldOf(of, 'weight');
  return typeof weight === 'number' ? weight : 1000;
};

const byWeight = <T extends readonly [name: string, of: unknown]>(
  all: readonly T[],
  of: (one: unknown) => unknown,
): T[] => [...all].sort((a, b) => weightOf(of(a[1])) - weightOf(of(b[1])) || a[0].localeCompare(b[0]));

/** A form from what release and plugins declare: kinds, labels, order and restrictions. */
export function SettingsForm({ editable, ...form }: FormProps) {
  const groups = byWeight(Object.entries(editable), (group) => fieldOf(group, 'metadata'));
  const shown = groups.filter(([name, group]) => !isHidden(form.restricted, name) && settingsOf(group).length > 0);
  if (shown.length === 0) return <p class="quiet">Its release declares no settings.</p>;
  return shown.map(([name, group]) => <Group key={name} name={name} group={group} {...form} />);
}

/** What people may change, in order. */
function settingsOf(group: unknown): (readonly [string, Fields])[] {
  if (!isFields(group)) return [];
  const declared = Object.entries(group).flatMap(([name, one]) =>
    name !== 'metadata' && isFields(one) && Object.hasOwn(one, 'value') && one.type !== 'hidden'
      ? [[name, one] as const]
      : [],
  );
  return byWeight(declared, (one) => one);
}

const isHidden = (restricted: Plan['restricted'], setting: string): boolean =>
  restricted.some((one) => one.setting === setting && one.choice === undefined && one.action === 'hide');

/** Why something may not be used now. */
const reasonsOf = (restricted: Plan['restricted'], setting: string): readonly string[] | undefined => {
  const found = restricted.filter(
    (one) => one.setting === setting && one.choice === undefined && one.action !== 'none',
  );
  return found.length === 0 ? undefined : found.flatMap(({ message }) => message ?? []);
};

interface GroupProps extends Omit<FormProps, 'editable'> {
  readonly name: string;
  readonly group: unknown;
}

function Group({ name, group, restricted, findings, disabled, onChange }: GroupProps) {
  const metadata = fieldOf(group, 'metadata');
  const label = textOf(fieldOf(metadata, 'label')) ?? name;
  const canSwitch = fieldOf(metadata, 'toggleable') === true;
  const isOn = !canSwitch || fieldOf(metadata, 'enabled') === true;
  const reasons = reasonsOf(restricted, name);
  const off = disabled || reasons !== undefined;
  return (
    <fieldset class="card">
      <legend>
        {canSwitch ? (
          <label class="check">
            <input
              type="checkbox"
              checked={isOn}
              disabled={off}
              onChange={(event) => onChange(`${name}.metadata`, event.currentTarget.checked)}
            />{' '}
            {label}
          </label>
        ) : (
          label
        )}
      </legend>
      <Restricted reasons={reasons} />
      {settingsOf(group)
        .filter(([setting]) => !isHidden(restricted, `${name}.${setting}`))
        .map(([setting, declared]) => {
          const path = `${name}.${setting}`;
          const why = reasonsOf(restricted, path);
          return (
            <Setting
              key={setting}
              path={path}
              declared={declared}
              disabled={off || !isOn || why !== undefined}
              reasons={why}
              choices={restricted.filter((one) => one.setting === path && one.choice !== undefined)}
              wrong={findings
                .filter((one) => one.path?.startsWith(`body.editable.${path}`))
                .map(({ message }) => message)}
              onChange={(value) => onChange(path, value)}
            />
          );
        })}
    </fieldset>
  );
}

const Restricted = ({ reasons }: { readonly reasons: readonly string[] | undefined }) =>
  reasons === undefined ? null : <p class="quiet">{reasons.join(' ') || 'Other settings do not allow it.'}</p>;

interface SettingProps {
  readonly path: string;
  readonly declared: Fields;
  readonly disabled: boolean;
  readonly reasons: readonly string[] | undefined;
  /** Its values that are restricted. */
  readonly choices: Plan['restricted'];
  readonly wrong: readonly string[];
  readonly onChange: (value: unknown) => void;
}

function Setting(props: SettingProps) {
  const { path, declared, reasons, wrong } = props;
  const label = textOf(declared.label) ?? path.slice(path.indexOf('.') + 1);
  const description = textOf(declared.description);
  const id = useId();
  const problems = [...wrong, ...againstPattern(declared)];
  return (
    <div class="setting">
      <Control {...props} label={label} described={id} isWrong={problems.length > 0} />
      <div id={id}>
        {description && <p class="quiet">{description}</p>}
        <Restricted reasons={reasons} />
        {problems.map((one) => (
          <p class="wrong">{one}</p>
        ))}
      </div>
    </div>
  );
}

/** What the declared pattern says of a text. */
function againstPattern({ regex, value }: Fields): readonly string[] {
  const source = textOf(fieldOf(regex, 'source'));
  if (source === undefined || typeof value !== 'string') return [];
  try {
    if (new RegExp(source).test(value)) return [];
  } catch {
    // A pattern of another language: the API decides.
    return [];
  }
  return [textOf(fieldOf(regex, 'error')) ?? 'It has another form.'];
}

interface ControlProps extends SettingProps {
  readonly label: string;
  readonly described: string;
  readonly isWrong: boolean;
}

function Control({
  declared,
  disabled,
  choices,
  onChange,
  label,
  described,
  isWrong,
}: ControlProps): ComponentChildren {
  const { value } = declared;
  const { type = kindOf(value) } = declared;
  const shared = {
    disabled,
    'aria-describedby': described,
    'aria-invalid': isWrong ? ('true' as const) : undefined,
  };
  const field = (control: ComponentChildren) => (
    <div class="field">
      <label for={`${described}-value`}>{label}</label>
      {control}
    </div>
  );
  const named = { ...shared, id: `${described}-value` };
  const onInput = ({ currentTarget }: TargetedInputEvent<HTMLInputElement | HTMLTextAreaElement>) =>
    onChange(currentTarget.value);
  const written = { ...named, value: textOf(value) ?? '', onInput };
  const options = Array.isArray(declared.values) ? (declared.values as readonly unknown[]).filter(isFields) : [];
  const optionText = (one: Fields): string => textOf(one.label) ?? JSON.stringify(one.data);
  const isOff = (one: Fields): boolean =>
    choices.some((other) => JSON.stringify(other.choice) === JSON.stringify(one.data));
  switch (type) {
    case 'checkbox':
      return (
        <label class="check">
          <input
            type="checkbox"
            {...shared}
            checked={value === true}
            onChange={(event) => onChange(event.currentTarget.checked)}
          />{' '}
          {label}
        </label>
      );
    case 'radio':
      return (
        <div class="field" role="radiogroup" aria-label={label}>
          <span>{label}</span>
          {options.map((one) => (
            <label class="check" title={textOf(one.description)}>
              <input
                type="radio"
                {...shared}
                disabled={disabled || isOff(one)}
                checked={one.data === value}
                onChange={() => onChange(one.data)}
              />{' '}
              {optionText(one)}
            </label>
          ))}
        </div>
      );
    case 'select':
      return field(
        <select {...named} onChange={(event) => onChange(options[event.currentTarget.selectedIndex]?.data)}>
          {options.map((one) => (
            <option selected={one.data === value} disabled={isOff(one)}>
              {optionText(one)}
            </option>
          ))}
        </select>,
      );
    case 'number':
      return field(
        <input
          type="number"
          {...named}
          value={typeof value === 'number' ? value : ''}
          min={numberOf(declared.min)}
          max={numberOf(declared.max)}
          onInput={(event) =>
            onChange(Number.isNaN(event.currentTarget.valueAsNumber) ? null : event.currentTarget.valueAsNumber)
          }
        />,
      );
    case 'password':
      return field(<input type="password" autocomplete="new-password" {...written} />);
    case 'text':
      return field(<input type="text" {...written} />);
    case 'textarea':
      return field(<textarea rows={4} {...written} />);
    case 'text_list':
    case 'textarea_list':
      return field(
        <textarea
          rows={Math.min(8, Math.max(2, linesOf(value).length))}
          {...named}
          placeholder="one a line"
          value={linesOf(value).join('\n')}
          onInput={(event) => {
            const { value: text } = event.currentTarget;
            onChange(text === '' ? [] : text.split('\n'));
          }}
        />,
      );
    default:
      return field(<JsonValue shared={named} value={value} onChange={onChange} />);
  }
}

/** For a setting that only has a value. */
const kindOf = (value: unknown): string =>
  typeof value === 'boolean' ? 'checkbox' : typeof value === 'string' ? 'text' : typeof value;

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
const linesOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

interface JsonProps {
  readonly shared: object;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

/** A value of a kind that has no control of its own. While it is no JSON, nothing changes. */
function JsonValue({ shared, value, onChange }: JsonProps) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  const [isWrong, setWrong] = useState(false);
  return (
    <>
      <textarea
        rows={Math.min(10, text.split('\n').length)}
        {...shared}
        class="code"
        spellcheck={false}
        aria-invalid={isWrong ? 'true' : undefined}
        value={text}
        onInput={(event) => {
          const { value: written } = event.currentTarget;
          setText(written);
          try {
            onChange(JSON.parse(written));
            setWrong(false);
          } catch {
            setWrong(true);
          }
        }}
      />
      {isWrong && <span class="wrong">Not valid JSON: this value is not changed.</span>}
    </>
  );
}
