import { useState } from 'preact/hooks';
import type { Run } from '../../core/contracts/runs.ts';
import { GRAPH_RUN_KIND, SITE_RUN_KINDS } from '../../core/words.ts';
import { at, send } from '../kit/api.ts';
import { Action, type FormField, type Given, heldBefore, holdField, type Option } from '../kit/ask.tsx';
import { fieldOf, textsOf } from '../kit/own-data.ts';
import { siteRehearsal } from '../kit/rehearsed.ts';
import { filterBy, go } from '../kit/router.ts';
import { useData } from '../kit/store.ts';
import { said } from '../kit/words.ts';
import { RunGraphs } from './run-graphs.tsx';
import { Touched } from './site-plan.tsx';

/** Starts a run like an ended one, with changes: its input is offered again. */
export function RunAgain({ run }: { readonly run: Run }) {
  const [isAsked, ask] = useState(false);
  const detail = useData(isAsked ? at('GET /runs/:run', { params: { run: run.id } }) : null);
  // What the question needs is read when it is asked.
  const open = (): void => {
    ask(true);
    filterBy({ do: 'again' });
  };
  if (detail.data === undefined)
    return (
      <button type="button" onClick={open}>
        Run again
      </button>
    );
  // One that was recorded without its input is offered again as any other.
  const given = detail.data.parameters;
  if (run.kind !== GRAPH_RUN_KIND) return run.site && <SiteAgain site={run.site} given={given} kind={run.kind} />;
  // Its site asks them again.
  if (fieldOf(given, 'checks') !== undefined) return null;
  return run.cluster !== null && <GraphsAgain id={run.cluster} given={given} verb="again" />;
}

interface GraphsProps {
  /** Of the cluster. */
  readonly id: number;
  readonly given: unknown;
  readonly label?: string;
  readonly verb?: string;
}

/** Asks for a run of graphs, as `given` unless changed. */
export function GraphsAgain({ id, given, label = 'Run again', verb }: GraphsProps) {
  const cluster = useData(at('GET /clusters/:id', { params: { id } }));
  const nodes = useData(at('GET /nodes', { query: { cluster_id: id } }));
  const graphs = useData(at('GET /graphs/', { query: { clusters_ids: id, fetch_related: '1' } }));
  if (cluster.data === undefined || nodes.data === undefined || graphs.data === undefined) return null;
  const types = [...new Set(graphs.data.flatMap((one) => one.relations.map(({ type }) => type)))].sort();
  return (
    <RunGraphs
      id={id}
      types={types}
      type={types[0]}
      given={given}
      nodes={nodes.data}
      locked={cluster.data.is_locked}
      label={label}
      verb={verb}
    />
  );
}

function SiteAgain({ site, given, kind }: { readonly site: string; readonly given: unknown; readonly kind: string }) {
  const wantedBy = ({ texts }: Given) => {
    const chosen = SITE_RUN_KINDS.find((one) => one === texts.kind) ?? 'deploy_site';
    const names = texts.nodes?.split(/[\s,]+/).filter(Boolean) ?? [];
    const number = Number(texts.revision);
    return {
      kind: chosen,
      ...(texts.revision !== undefined && { revision: Number.isInteger(number) ? number : texts.revision }),
      ...(names.length > 0 && { nodes: names }),
      ...(texts.erase !== undefined && { erase: true }),
      ...(texts.release_removed !== undefined && { release_removed: true }),
      ...(chosen === 'test_site' ? {} : heldBefore(texts.hold_before)),
    };
  };
  const start = async (filled: Given): Promise<void> => {
    const body = { ...wantedBy(filled), ...filled.note };
    const run = await send('POST /sites/:site/runs', { params: { site }, body });
    go(`/runs/${run.id}`);
  };
  const fields: FormField[] = [
    {
      name: 'kind',
      label: 'Kind',
      type: 'select',
      options: SITE_RUN_KINDS.map((one): Option => [one, said(one)]),
      value: kind,
    },
    { name: 'revision', label: 'Revision', value: String(fieldOf(given, 'revision') ?? ''), placeholder: 'latest' },
    {
      name: 'nodes',
      label: 'Nodes to redeploy',
      value: textsOf(fieldOf(given, 'nodes')).join(', '),
      placeholder: 'comma-separated names',
    },
    holdField('groups', textsOf(fieldOf(given, 'hold_before'))),
    {
      name: 'erase',
      label: 'Redeploy: also erase the disks',
      type: 'checkbox',
      value: fieldOf(given, 'erase') === true,
    },
    {
      name: 'release_removed',
      label: 'Update: release machines of removed nodes',
      type: 'checkbox',
      value: fieldOf(given, 'release_removed') === true,
    },
  ];
  return (
    <Action
      label="Run again"
      verb="again"
      title={`Run again on ${site}`}
      fields={fields}
      preview={({ texts }) => (
        <Touched site={site} kind={texts.kind ?? kind} nodes={texts.nodes?.split(/[\s,]+/).filter(Boolean) ?? []} />
      )}
      rehearse={(filled) => siteRehearsal(site, wantedBy(filled))}
      act={start}
      done="The run has started."
    />
  );
}
