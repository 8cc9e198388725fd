import { useState } from 'preact/hooks';
import { type Answer, ApiProblem, at, type Problem as Refusal, send, sendText } from '../kit/api.ts';
import { Action, Planned } from '../kit/ask.tsx';
import { forbidden } from '../kit/identity.ts';
import { Findings, Loaded, Problem, type View } from '../kit/parts.tsx';
import { addressWith } from '../kit/router.ts';
import { type Loading, listsChanged, problemOf, useData, useRead, useTyped } from '../kit/store.ts';
import { Table } from '../kit/table.tsx';
import { Ago } from '../kit/times.tsx';
import { ChangeList, SettingChanges } from './setting-changes.tsx';
import { type Draft, type Editable, SettingsForm, withDraft } from './settings-form.tsx';

type Plan = Answer<'POST /clusters/:id/attributes/plan'>;

const VIEWS: readonly View[] = [
  ['form', 'Form'],
  ['json', 'JSON'],
  ['history', 'History'],
];

/** The settings of a cluster: as a form, as JSON, and over time. */
export function Settings({ cluster, as }: { readonly cluster: string; readonly as: string | null }) {
  const settings = useData(at('GET /clusters/:id/attributes', { params: { id: cluster } }), {
    again: listsChanged.value,
  });
  const view = VIEWS.find(([key]) => key === as)?.[0] ?? 'form';
  const saved = () => {
    settings.reload();
    listsChanged.value++;
  };
  return (
    <>
      <nav class="filters" aria-label="Settings as">
        {VIEWS.map(([key, text]) => (
          <a
            key={key}
            class="button"
            href={addressWith({ as: key === 'form' ? '' : key, view: 'settings' })}
            data-stay
            aria-current={key === view ? 'true' : undefined}
          >
            {text}
          </a>
        ))}
      </nav>
      {view === 'history' ? (
        <History cluster={cluster} onDone={saved} />
      ) : (
        <Loaded from={settings}>
          {({ editable }) =>
            view === 'json' ? (
              <AsJson key={JSON.stringify(editable)} cluster={cluster} editable={editable} onDone={saved} />
            ) : (
              <AsForm key={JSON.stringify(editable)} cluster={cluster} editable={editable} onDone={saved} />
            )
          }
        </Loaded>
      )}
    </>
  );
}

interface EditProps {
  readonly cluster: string;
  readonly editable: Editable;
  readonly onDone: () => void;
}

function AsForm({ cluster, editable, onDone }: EditProps) {
  const [draft, setDraft] = useState<Draft>({});
  const why = forbidden('operator');
  const changed = withDraft(editable, draft);
  const body = { editable: changed };
  // Conditions of release and plugins decide anew with every value.
  const { data: plan, problem } = useTyped(JSON.stringify(body), () =>
    send('POST /clusters/:id/attributes/plan', { params: { id: cluster }, body }),
  );
  const count = Object.keys(draft).length;
  return (
    <div class="settings">
      <SettingsForm
        editable={changed}
        restricted={plan?.restricted ?? []}
        findings={plan?.findings ?? []}
        disabled={why !== undefined}
        onChange={(path, value) => setDraft((before) => ({ ...before, [path]: value }))}
      />
      <Problem of={problem} />
      {why && <p class="quiet">{why}</p>}
      <div class="save actions">
        <Save
          cluster={cluster}
          json={JSON.stringify(body)}
          onDone={onDone}
          disabled={count === 0 && 'Nothing is changed.'}
        />
        {count > 0 && (
          <button type="button" onClick={() => setDraft({})}>
            Discard changes
          </button>
        )}
        <span class="quiet" role="status">
          {count === 0 ? '' : `${plan?.changes.length ?? 0} changed, not saved`}
        </span>
      </div>
    </div>
  );
}

function AsJson({ cluster, editable, onDone }: EditProps) {
  const [text, setText] = useState(() => JSON.stringify({ editable }, null, 2));
  const why = forbidden('operator');
  return (
    <div class="card">
      <label class="field">
        <span>Settings</span>
        <textarea
          name="settings"
          rows={18}
          spellcheck={false}
          defaultValue={text}
          onInput={(event) => setText(event.currentTarget.value)}
        ></textarea>
      </label>
      {why && <p class="quiet">{why}</p>}
      <Save cluster={cluster} json={text} onDone={onDone} />
    </div>
  );
}

interface SaveProps {
  readonly cluster: string;
  /** The body, as text: the API names the place of a mistake. */
  readonly json: string;
  readonly onDone: () => void;
  readonly disabled?: string | false;
}

/** Shows what changes, and saves just that. */
function Save({ cluster, json, onDone, disabled = false }: SaveProps) {
  const params = { id: cluster };
  return (
    <Action<Plan>
      label="Save settings"
      main
      explain="Nodes get them with the next deployment."
      reason={false}
      disabled={disabled}
      plan={(_given, onPlan) => <PlanOf cluster={cluster} json={json} onPlan={onPlan} />}
      act={async (_given, { digest }) => {
        await sendText('PUT /clusters/:id/attributes', { params, query: { digest } }, json);
        onDone();
      }}
      done="Settings saved."
    />
  );
}

interface PlanProps extends Pick<SaveProps, 'cluster' | 'json'> {
  readonly onPlan: (plan: Loading<Plan>) => void;
}

function PlanOf({ cluster, json, onPlan }: PlanProps) {
  const plan = useRead(json, async () => {
    try {
      return await sendText('POST /clusters/:id/attributes/plan', { params: { id: cluster } }, json);
    } catch (error) {
      throw new ApiProblem(withPlace(problemOf(error)));
    }
  });
  return (
    <Planned from={plan} onPlan={onPlan}>
      {({ findings, changes }) =>
        findings.length === 0 ? <SettingChanges of={changes} /> : <Findings label="Problems" of={findings} />
      }
    </Planned>
  );
}

/** A mistake in the JSON, with its line. */
function withPlace(problem: Refusal): Refusal {
  const mistake = problem.errors?.find(({ code }) => code === 'request.json');
  if (mistake === undefined) return problem;
  const { line, column, message } = mistake;
  return {
    ...problem,
    detail: `Not valid JSON: line ${line}, column ${column}: ${message}`,
    hint: 'Nothing was saved. Fix it, then save again.',
    errors: [],
  };
}

interface HistoryProps {
  readonly cluster: string;
  readonly onDone: () => void;
}

/** The revisions of the settings, each with what it changed, and the way back to it. */
function History({ cluster, onDone }: HistoryProps) {
  const params = { id: cluster };
  const history = useData(at('GET /clusters/:id/attributes/history', { params }), { again: listsChanged.value });
  return (
    <Loaded from={history}>
      {({ items }) => (
        <Table
          label="Revisions of the settings"
          rows={items}
          keyOf={({ number }) => String(number)}
          empty="The settings have not changed since the cluster was created."
          columns={[
            ['Revision', ({ number }) => number, 'number'],
            ['When', (one) => <Ago of={one.at} />, 'number'],
            ['By', ({ by }) => by],
            ['Changed', ({ changes }) => <ChangeList of={changes} />, 'wide'],
            [
              '',
              ({ number }) =>
                number === items[0]?.number ? (
                  <span class="quiet">these are the settings now</span>
                ) : (
                  <Action
                    label="Compare and revert"
                    title={`Go back to revision ${number}`}
                    explain="Nodes get the settings with the next deployment. The way back is a revision, too."
                    reason={false}
                    preview={() => <Back cluster={cluster} number={number} />}
                    act={async () => {
                      await send('POST /clusters/:id/attributes/history/:number/revert', {
                        params: { id: cluster, number },
                      });
                      history.reload();
                      onDone();
                    }}
                    done={`The settings are those of revision ${number} again.`}
                  />
                ),
              'actions',
            ],
          ]}
        />
      )}
    </Loaded>
  );
}

/** What going back changes: the difference, the other way round. */
function Back({ cluster, number }: { readonly cluster: string; readonly number: number }) {
  const difference = useData(at('GET /clusters/:id/attributes/history/:number', { params: { id: cluster, number } }));
  return (
    <Loaded from={difference}>
      {({ changes }) => (
        <SettingChanges of={changes.map(({ setting, before, after }) => ({ setting, before: after, after: before }))} />
      )}
    </Loaded>
  );
}
