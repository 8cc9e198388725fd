import type { Answer } from '../api.ts';
import { count } from '../words.ts';

type Changes = Answer<'GET /clusters/:id/attributes/history/:number'>['changes'];

/** Settings that change, each with its value before and after. */
export const SettingChanges = ({ of }: { readonly of: Changes }) =>
  of.length === 0 ? (
    <p>No setting changes.</p>
  ) : (
    <>
      <h3>{count(of.length, 'changed setting')}</h3>
      <ChangeList of={of} />
    </>
  );

/** The same without a heading. */
export const ChangeList = ({ of }: { readonly of: Changes }) => (
  <ul class="plain">
    {of.map(({ setting, before, after }) => (
      <li key={setting}>
        <strong>{setting}</strong> <del>{textOfValue(before)}</del> → <ins>{textOfValue(after)}</ins>
      </li>
    ))}
  </ul>
);

/** A value as its document has it; a mapping in one line. */
const textOfValue = (value: unknown): string =>
  value === undefined || value === null ? 'none' : JSON.stringify(value);
