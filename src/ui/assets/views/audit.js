import { query as queryOf } from '../api.js';
import { html } from '../html.js';
import { Loaded, Table, Title } from '../parts.js';
import { filterBy } from '../router.js';
import { useData } from '../store.js';
import { timeOf } from '../words.js';

/** Who did what, when and why. */
export function AuditView({ query }) {
  const before = query.get('before') ?? '';
  const entries = useData(`/api/v1/audit${queryOf({ before, limit: 100 })}`);
  return html`<${Title} of="Audit" />
    <${Loaded} from=${entries}>
      ${({ items, next }) =>
        html`<${Table}
            label="Audit"
            rows=${items}
            keyOf=${(one) => one.id}
            columns=${[
              ['At', (one) => timeOf(one.at)],
              ['Who', (one) => one.actor],
              ['What', (one) => one.action],
              ['To', (one) => one.target],
              ['Why', (one) => one.reason ?? '', 'wide'],
            ]}
          />
          <nav class="pages" aria-label="Pages">
            ${before !== '' && html`<button type="button" onClick=${() => filterBy({ before: '' })}>Newest</button>`}
            ${next !== null && html`<button type="button" onClick=${() => filterBy({ before: next })}>Older</button>`}
          </nav>`}
    <//>`;
}
