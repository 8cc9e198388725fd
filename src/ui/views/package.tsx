import { type Address, at, send } from '../kit/api.ts';
import { Action } from '../kit/ask.tsx';
import { fieldOf, textOf, textsOf } from '../kit/own-data.ts';
import { type Crumb, Detail, Loaded, NewTab, One, State } from '../kit/parts.tsx';
import { go } from '../kit/router.ts';
import { listsChanged, useData } from '../kit/store.ts';
import { Listed, Table } from '../kit/table.tsx';
import { Ago } from '../kit/times.tsx';
import { webLink } from '../kit/web-link.ts';
import { nameOf } from './graphs.tsx';
import { sizeOf } from './packages.tsx';

const LIST: Crumb = ['/packages', 'Packages'];

/** One package with all its parts. */
export function PackageView({ id }: { readonly id: string }) {
  const params = { id };
  const found = useData(at('GET /packages/:id', { params }), { again: listsChanged.value });
  const remove = async () => {
    await send('DELETE /packages/:id', { params });
    go('/packages');
  };
  return (
    <One
      of={`Package ${id}`}
      list={LIST}
      from={found}
      title={(one) => ({
        of: `${one.name} ${one.version}`,
        actions: (
          <>
            <a class="button" href={at('GET /packages/:id/archive', { params })} download>
              Download
            </a>
            <Action
              label="Remove"
              title={`Remove ${one.name}`}
              explain="Also removes its releases and plugins. Refused while a cluster uses them."
              needs="admin"
              reason={false}
              act={remove}
              done={`${one.name} removed.`}
              danger
            />
          </>
        ),
      })}
    >
      {(one) => (
        <>
          <dl class="details">
            <Detail name="Kind">{one.kind}</Detail>
            <Detail name="Format">{one.package_version}</Detail>
            <Detail name="Installed">
              <Ago of={one.installed_at} />
              {one.updated_at !== one.installed_at && (
                <>
                  , updated to this version <Ago of={one.updated_at} />
                </>
              )}
            </Detail>
            <Detail name="Archive">
              {sizeOf(one)}, SHA-256 <code>{one.checksum}</code>
            </Detail>
          </dl>
          {one.releases.map((release) => (
            <Release key={release.id} id={release.id} />
          ))}
          {one.plugins.map((plugin) => (
            <Plugin key={plugin.id} id={plugin.id} />
          ))}
        </>
      )}
    </One>
  );
}

function Release({ id }: { readonly id: number }) {
  const params = { id };
  const release = useData(at('GET /releases/:id', { params }));
  return (
    <Loaded from={release}>
      {(one) => (
        <>
          <h2>
            Release {one.name} {one.version} <State of={one.state} />
          </h2>
          <p class="facts">
            {one.description} {one.operating_system && `For ${one.operating_system}.`}
          </p>
          <Table
            label={`Roles of ${one.name}`}
            rows={one.roles}
            keyOf={(role) => role}
            empty="No roles."
            columns={[
              ['Role', (role) => role, 'name'],
              ['Description', (role) => textOf(fieldOf(fieldOf(one.roles_metadata, role), 'description')), 'wide'],
              [
                'Tags',
                (role) =>
                  textsOf(fieldOf(fieldOf(one.roles_metadata, role), 'tags')).map((tag) => (
                    <span class="tag">{tag}</span>
                  )),
                'wide',
              ],
            ]}
          />
          <Graphs of={at('GET /releases/:id/deployment_graphs/', { params })} />
          <p class="quiet">
            <a href={`/tags?owner=release/${id}`}>Its tags</a>
          </p>
        </>
      )}
    </Loaded>
  );
}

function Plugin({ id }: { readonly id: number }) {
  const params = { id };
  const plugin = useData(at('GET /plugins/:id', { params }));
  return (
    <Loaded from={plugin}>
      {(one) => {
        const [licences, home] = [textsOf(one.licenses), webLink(one.homepage)];
        return (
          <>
            <h2>
              Plugin {one.title || one.name} {one.version}
            </h2>
            <p class="facts">
              {textOf(one.description)} {licences.length > 0 ? `Licence: ${licences.join(', ')}.` : ''}
              {home && (
                <>
                  {' '}
                  <NewTab at={home}>Its home page</NewTab>
                </>
              )}
            </p>
            <Table
              label="Tags"
              rows={Object.entries(one.tags_metadata)}
              keyOf={([tag]) => tag}
              empty="No tags."
              columns={[
                ['Tag', ([tag]) => <span class="tag">{tag}</span>, 'name'],
                ['Has a primary node', ([, meta]) => (fieldOf(meta, 'has_primary') === true ? 'yes' : 'no')],
              ]}
            />
            <Graphs of={at('GET /plugins/:id/deployment_graphs/', { params })} />
          </>
        );
      }}
    </Loaded>
  );
}

function Graphs({
  of,
}: {
  readonly of: Address<'GET /releases/:id/deployment_graphs/' | 'GET /plugins/:id/deployment_graphs/'>;
}) {
  const graphs = useData(of);
  return (
    <Listed
      from={graphs}
      label="Graphs"
      keyOf={(one) => one.id}
      empty="No graphs."
      columns={[
        ['Graph', (one) => <a href={`/graphs/${one.id}`}>{nameOf(one)}</a>, 'name'],
        ['Type', (one) => one.relations.map(({ type }) => type).join(', ')],
        ['Tasks', (one) => one.tasks.length, 'number'],
      ]}
    />
  );
}
