import { useEffect, useRef, useState } from 'preact/hooks';
import type { DocumentEditor } from '../editor/main.ts';
import { type Answer, at, get, type Problem as Refusal, send } from '../kit/api.ts';
import { Action } from '../kit/ask.tsx';
import { forbidden } from '../kit/identity.ts';
import { Loaded, Problem, State, say } from '../kit/parts.tsx';
import { addressWith, go, siteAt } from '../kit/router.ts';
import { listsChanged, problemOf, useData, useTyped } from '../kit/store.ts';
import { count } from '../kit/words.ts';
import { Differences } from './revisions.tsx';

type Files = Answer<'GET /sites/:site/revisions/:ref/files'>['files'];

interface EditProps {
  readonly site: string;
  /** The newest revision; null for a site without documents. */
  readonly newest: number | null;
  /** Name of the file to edit. */
  readonly file: string;
}

/** Edits the documents of a site: problems come from the checks of a commit, as they are typed. */
export function EditDocuments({ site, newest, file }: EditProps) {
  const files = useData(
    newest === null ? null : at('GET /sites/:site/revisions/:ref/files', { params: { site, ref: String(newest) } }),
  );
  if (newest === null) return <Editing site={site} base={null} before={[]} file={file} />;
  return (
    <Loaded from={files}>
      {({ files: before, revision }) => (
        <Editing key={revision} site={site} base={revision} before={before} file={file} />
      )}
    </Loaded>
  );
}

interface EditingProps {
  readonly site: string;
  readonly base: number | null;
  readonly before: Files;
  readonly file: string;
}

function Editing({ site, base, before, file }: EditingProps) {
  const [now, setNow] = useState<Files>(before);
  const text = JSON.stringify(now);
  const { data: check, problem } = useTyped(now.length === 0 ? null : text, () =>
    send('POST /documents/check', { body: { files: now } }),
  );
  const editor = useRef<DocumentEditor>(null);
  const why = forbidden('operator');
  const shown = now.find(({ name }) => name === file) ?? now[0];
  const isChanged = text !== JSON.stringify(before);
  const found = check?.diagnostics ?? [];
  const here = found.filter((one) => one.file === shown?.name);
  useEffect(() => editor.current?.show(here), [check, shown?.name]);
  const write = (name: string, text: string): void =>
    setNow((all) => all.map((one) => (one.name === name ? { name, text } : one)));
  const commit = async (message: string | undefined): Promise<void> => {
    const { latest_revision: latest } = await get(at('GET /sites/:site', { params: { site } }));
    if (latest !== base) throw new Error(`Revision ${latest} has come meanwhile: copy your changes, and open it.`);
    const made = await send('POST /sites/:site/revisions', {
      params: { site },
      body: { files: now, ...(message !== undefined && { message }) },
    });
    listsChanged.value++;
    if (!made.revision) return say('Nothing has changed.');
    const { number } = made.revision;
    go(`${siteAt(site)}?revision=${number}${number > 1 ? `&since=${number - 1}` : ''}`);
  };
  return (
    <div class="documents">
      <nav class="filters" aria-label="Files">
        {now.map(({ name }) => (
          <a
            key={name}
            class="button"
            href={addressWith({ edit: name })}
            data-stay
            aria-current={name === shown?.name ? 'true' : undefined}
          >
            {name}
            {before.find((one) => one.name === name)?.text !== now.find((one) => one.name === name)?.text && ' •'}
          </a>
        ))}
        <Action
          label="New file"
          reason={false}
          signed={false}
          fields={[{ name: 'name', label: 'Name', needed: true, placeholder: 'nodes.yaml', autofocus: true }]}
          act={({ texts: { name = '' } }) => {
            if (now.some((one) => one.name === name)) throw new Error(`There is a file ${name} already.`);
            setNow([...now, { name, text: 'schema: ' }]);
            go(addressWith({ edit: name }), { stay: true });
          }}
          done="Not committed yet."
        />
        {shown && (
          <Action
            label="Remove file"
            title={`Remove ${shown.name}`}
            explain="It goes with the next commit."
            reason={false}
            signed={false}
            act={() => setNow(now.filter(({ name }) => name !== shown.name))}
            done="Not committed yet."
          />
        )}
      </nav>
      {shown && (
        <Editor
          key={shown.name}
          label={shown.name}
          text={shown.text}
          readOnly={why !== undefined}
          onOpen={(one) => {
            editor.current = one;
            one?.show(here);
          }}
          onChange={(text) => write(shown.name, text)}
        />
      )}
      <Problem of={problem} />
      {check && (
        <p class="facts" role="status">
          <State of={check.valid ? 'ok' : 'failed'}>
            {check.valid
              ? `valid: ${count(check.nodes, 'node')} in ${count(check.groups, 'group')}`
              : count(found.filter(({ severity }) => severity === 'error').length, 'error')}
          </State>
        </p>
      )}
      {found.length > 0 && (
        <ul class="plain" aria-label="Problems">
          {found.slice(0, 50).map((one) => (
            <li>
              <a
                href={addressWith({ edit: one.file ?? '' })}
                data-stay
                onClick={() => {
                  if (one.file === shown?.name) editor.current?.goTo(one.line ?? 1, one.column ?? 1);
                }}
              >
                {one.file}:{one.line}:{one.column}
              </a>{' '}
              <strong>{one.severity}</strong> {one.message} {one.hint && <span class="quiet">{one.hint}</span>}
            </li>
          ))}
          {found.length > 50 && <li>and {found.length - 50} more</li>}
        </ul>
      )}
      <div class="actions">
        <Action
          label="Commit"
          title="Commit the next revision"
          explain="Machines are not touched before the site is updated."
          reason={false}
          fields={[{ name: 'message', label: 'What changed and why', autofocus: true }]}
          preview={() => <Differences before={before} after={now} />}
          disabled={
            !isChanged
              ? 'Nothing is changed.'
              : check?.valid === false && 'Correct the errors first; they are listed above.'
          }
          act={({ texts }) => commit(texts.message)}
          done="Committed."
        />
        <a class="button" href={siteAt(site)}>
          Leave
        </a>
      </div>
    </div>
  );
}

/** Not part of the page's own script: it is loaded where something is edited. */
const EDITOR = '/assets/editor.js';

interface EditorProps {
  readonly label: string;
  readonly text: string;
  readonly readOnly: boolean;
  readonly onOpen: (editor: DocumentEditor | null) => void;
  readonly onChange: (text: string) => void;
}

function Editor({ label, text, readOnly, onOpen, onChange }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState<Refusal>();
  const listener = useRef(onChange);
  listener.current = onChange;
  useEffect(() => {
    let opened: DocumentEditor | undefined;
    let isGone = false;
    const open = async (): Promise<void> => {
      const [{ openEditor }, schemas] = await Promise.all([
        import(EDITOR) as Promise<typeof import('../editor/main.ts')>,
        loadSchemas(),
      ]);
      if (isGone || host.current === null) return;
      opened = openEditor({
        host: host.current,
        text,
        label,
        readOnly,
        schemas,
        onChange: (written) => listener.current(written),
      });
      onOpen(opened);
    };
    open().catch((error: unknown) => setProblem(problemOf(error)));
    return () => {
      isGone = true;
      opened?.close();
      onOpen(null);
    };
  }, []);
  return (
    <>
      <Problem of={problem} />
      <div ref={host} />
    </>
  );
}

type Schema = Answer<'GET /schemas/:file'>;
let schemas: Promise<readonly Schema[]> | undefined;

/** The published schemas, once. */
function loadSchemas(): Promise<readonly Schema[]> {
  schemas ??= (async () => {
    const { items } = await get(at('GET /schemas'));
    return Promise.all(items.map(({ file }) => get(at('GET /schemas/:file', { params: { file } }))));
  })();
  return schemas;
}
