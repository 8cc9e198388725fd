import { post } from '../api.js';
import { Action } from '../ask.js';
import { html } from '../html.js';
import { Command, Empty, Loaded, State, Title } from '../parts.js';
import { listsChanged, useData } from '../store.js';
import { Table } from '../table.js';
import { Ago } from '../times.js';
import { said } from '../words.js';

/** Receivers of notices about runs, and the last deliveries. */
export function NoticesView() {
  const again = listsChanged.value;
  const receivers = useData('/api/v1/notices/receivers', { again });
  const deliveries = useData('/api/v1/notices/deliveries', { again });
  return html`<${Title} of="Notices" />
    <${Loaded} from=${receivers}>
      ${({ items }) =>
        html`<${Table}
          label="Receivers"
          rows=${items}
          keyOf=${(one) => one.name}
          empty=${html`<${NoReceiver} />`}
          columns=${[
            ['Receiver', (one) => one.name, 'name'],
            ['Address', (one) => html`<code>${one.address}</code>`],
            ['Events', (one) => one.events.map(said).join(', ')],
            ['Sites', (one) => one.sites?.join(', ') ?? 'all'],
            ['Body', (one) => `${one.format}${one.signed ? ', signed' : ''}`],
            ['Last', (one) => one.last && html`<${Outcome} of=${one.last} /> <${Ago} of=${one.last.at} />`],
            ['', (one) => html`<${Test} receiver=${one.name} />`, 'actions'],
          ]}
        />`}
    <//>
    <h2>Deliveries</h2>
    <${Loaded} from=${deliveries}>
      ${({ items }) =>
        html`<${Table}
          label="Deliveries"
          rows=${items}
          keyOf=${(one) => one.id}
          empty="Nothing has been sent yet."
          columns=${[
            ['At', (one) => html`<${Ago} of=${one.at} />`, 'number'],
            ['Receiver', (one) => one.receiver, 'name'],
            ['Event', (one) => said(one.event)],
            ['Run', (one) => one.run && html`<a href=${`/runs/${one.run}`}>${one.run.slice(0, 13)}</a>`],
            ['Attempt', (one) => one.attempt, 'number'],
            ['Outcome', (one) => html`<${Outcome} of=${one} />`],
            ['Why', (one) => one.message ?? '', 'wide'],
          ]}
        />`}
    <//>`;
}

const NoReceiver = () => html`<${Empty} title="No receivers yet.">
  <p>
    Runs that fail, are held or wait for approval can call webhooks. List their URLs in a file, and set its name for API and
    worker:
  </p>
  <${Command} text="SITEWRIGHT_NOTICES_RECEIVERS_FILE=notices.yaml" />
<//>`;

const Outcome = ({ of: { delivered } }) =>
  html`<${State} of=${delivered ? 'success' : 'failed'}>${delivered ? 'delivered' : 'not delivered'}<//>`;

const Test = ({ receiver }) => html`<${Action}
  label="Test"
  title=${`Send a test notice to ${receiver}`}
  explain="Sends a test notice, once. It takes up to ten seconds."
  reason=${false}
  act=${async () => {
    const sent = await post(`/api/v1/notices/receivers/${encodeURIComponent(receiver)}/test`);
    listsChanged.value++;
    return sent.delivered ? `Delivered to ${receiver}.` : `Not delivered to ${receiver}: ${sent.message}.`;
  }}
/>`;
