import { NOTICE_EVENTS, NOTICE_FORMATS } from '../../core/words.ts';
import { at, send } from '../kit/api.ts';
import { Action, listed, type Option, optionsOf } from '../kit/ask.tsx';
import { Command, Empty, NewTab, State, Title } from '../kit/parts.tsx';
import { listsChanged, useData } from '../kit/store.ts';
import { Listed } from '../kit/table.tsx';
import { Ago } from '../kit/times.tsx';
import { said } from '../kit/words.ts';

/** Receivers of notices about runs, and the last deliveries. */
export function NoticesView() {
  const again = listsChanged.value;
  const receivers = useData(at('GET /notices/receivers'), { again });
  const deliveries = useData(at('GET /notices/deliveries'), { again });
  return (
    <>
      <Title of="Notices" actions={<CreateReceiver />} />
      <Listed
        from={receivers}
        label="Receivers"
        keyOf={(one) => one.name}
        empty={<NoReceiver />}
        columns={[
          ['Receiver', (one) => one.name, 'name'],
          ['Address', (one) => <code>{one.address}</code>],
          ['Events', (one) => one.events.map(said).join(', ')],
          ['Sites', (one) => one.sites?.join(', ') ?? 'all'],
          ['Body', (one) => `${one.format}${one.signed ? ', signed' : ''}`],
          [
            'Last',
            (one) =>
              one.last && (
                <>
                  <Outcome of={one.last} /> <Ago of={one.last.at} />
                </>
              ),
          ],
          ['', (one) => <Test receiver={one.name} />, 'actions'],
        ]}
      />
      <h2>Deliveries</h2>
      <Listed
        from={deliveries}
        label="Deliveries"
        keyOf={(one) => one.id}
        empty="Nothing has been sent yet."
        next="sitewright notice test RECEIVER"
        columns={[
          ['At', (one) => <Ago of={one.at} />, 'number'],
          ['Receiver', (one) => one.receiver, 'name'],
          ['Event', (one) => said(one.event)],
          ['Run', (one) => one.run && <a href={`/runs/${one.run}`}>{one.run.slice(0, 13)}</a>],
          ['Attempt', (one) => one.attempt, 'number'],
          ['Outcome', (one) => <Outcome of={one} />],
          ['Why', (one) => one.message ?? '', 'wide'],
          ['Temporal', (one) => <NewTab at={one.temporal_url}>Show</NewTab>],
        ]}
      />
    </>
  );
}

const NoReceiver = () => (
  <Empty title="No receivers yet.">
    <p>
      Runs that fail, are held or wait for approval can call webhooks. Create one above, or list their URLs in a file
      and set its name for API and worker:
    </p>
    <Command text="SITEWRIGHT_NOTICES_RECEIVERS_FILE=notices.yaml" />
  </Empty>
);

const Outcome = ({ of: { delivered } }: { readonly of: { readonly delivered: boolean } }) => (
  <State of={delivered ? 'success' : 'failed'}>{delivered ? 'delivered' : 'not delivered'}</State>
);

/** Webhooks of chats, pagers and programs. */
const CreateReceiver = () => (
  <Action
    label="Create a receiver"
    verb="create"
    main
    needs="admin"
    reason={false}
    signed={false}
    fields={[
      { name: 'name', label: 'Name', needed: true, placeholder: 'pager', autofocus: true },
      { name: 'url', label: 'URL', needed: true, placeholder: 'https://chat.example/hooks/T0/B0/x9' },
      { name: 'format', label: 'Body', type: 'select', options: optionsOf(NOTICE_FORMATS) },
      { name: 'secret', label: 'Secret that signs the body', placeholder: 'none; at least 16 characters' },
      { name: 'events', label: 'Events', type: 'choices', needed: true, options: EVENTS, value: WANTED },
      { name: 'sites', label: 'Only these sites', placeholder: 'all; comma-separated names' },
    ]}
    act={async ({ texts: { name = '', url = '', format, secret, sites }, chosen }) => {
      const body = {
        ...{ name, url, events: WANTED.filter((one) => chosen('events').includes(one)) },
        ...(format === 'text' && { format: 'text' as const }),
        ...(secret !== undefined && { secret }),
        ...(sites !== undefined && { sites: listed(sites) }),
      };
      await send('POST /notices/receivers', { body });
      listsChanged.value++;
    }}
    done="The receiver is there: send it a test."
  />
);

const WANTED = NOTICE_EVENTS.filter((event) => event !== 'test');
const EVENTS = WANTED.map((event): Option => [event, said(event)]);

const Test = ({ receiver }: { readonly receiver: string }) => (
  <Action
    label="Test"
    title={`Send a test notice to ${receiver}`}
    explain="Sends a test notice, once. It takes up to ten seconds."
    reason={false}
    act={async () => {
      const sent = await send('POST /notices/receivers/:receiver/test', { params: { receiver } });
      listsChanged.value++;
      return sent.delivered ? `Delivered to ${receiver}.` : `Not delivered to ${receiver}: ${sent.message}.`;
    }}
  />
);
