import { changeText, SECRET, valueText } from '../../core/setting-change-text.ts';
import type { Answer } from '../kit/api.ts';
import { count } from '../kit/words.ts';

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
        <strong>{setting}</strong>{' '}
        {before === SECRET || after === SECRET ? (
          changeText(before, after)
        ) : (
          <>
            <del>{valueText(before)}</del> → <ins>{valueText(after)}</ins>
          </>
        )}
      </li>
    ))}
  </ul>
);
