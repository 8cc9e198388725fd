// The editor of documents: a file of its own, which the page loads where documents are edited.
import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { EditorState, type Text } from '@codemirror/state';
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type JsonSchema, proposals } from './schema-proposals.ts';
import { yamlPlace } from './yaml-place.ts';

/** A problem at its place: line and column from 1, in code points. */
interface PlacedProblem {
  readonly severity: 'error' | 'warning' | 'info';
  readonly message: string;
  readonly hint?: string;
  readonly line?: number;
  readonly column?: number;
  readonly text?: string;
}

export interface EditorOptions {
  /** An empty element. The editor is in its shadow tree: its styles need no exception from the policy of the page. */
  readonly host: HTMLElement;
  readonly text: string;
  readonly label: string;
  readonly readOnly: boolean;
  readonly schemas: readonly JsonSchema[];
  readonly onChange: (text: string) => void;
}

export interface DocumentEditor {
  show(problems: readonly PlacedProblem[]): void;
  goTo(line: number, column: number): void;
  close(): void;
}

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: [tags.string, tags.content], color: 'var(--ink)' },
  { tag: tags.meta, color: 'var(--quiet)' },
]);

const LOOK = EditorView.theme({
  '&': {
    color: 'var(--ink)',
    background: 'var(--paper)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    fontSize: '13px',
    maxHeight: '65vh',
  },
  '&.cm-focused': { outline: '3px solid var(--accent)' },
  '.cm-scroller': { fontFamily: 'ui-monospace, "DejaVu Sans Mono", monospace', lineHeight: '1.5' },
  '.cm-gutters': { background: 'var(--ground)', color: 'var(--quiet)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'transparent' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-tooltip': { background: 'var(--paper)', color: 'var(--ink)', border: '1px solid var(--line)', maxWidth: '36em' },
  '.cm-diagnosticText': { whiteSpace: 'pre-wrap' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { background: 'var(--accent)', color: 'var(--paper)' },
});

export function openEditor({ host, text, label, readOnly, schemas, onChange }: EditorOptions): DocumentEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const complete = (context: CompletionContext): CompletionResult | null => {
    const place = yamlPlace(context.state.doc.toString(), context.pos);
    if (place === undefined || (place.typed === '' && !context.explicit)) return null;
    const options = proposals(schemas, place).map(({ label: name, isKey, about }) => ({
      label: name,
      type: isKey ? 'property' : 'enum',
      ...(isKey && { apply: `${name}: ` }),
      ...(about !== undefined && { info: about }),
    }));
    return options.length === 0 ? null : { from: place.from, options, validFor: /^[\w./-]*$/ };
  };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        lintGutter(),
        history(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        EditorView.lineWrapping,
        EditorState.readOnly.of(readOnly),
        yaml(),
        syntaxHighlighting(COLOURS),
        autocompletion({ override: [complete] }),
        // Tab leaves the editor, for those who have no mouse.
        keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap, ...completionKeymap]),
        EditorView.contentAttributes.of({ 'aria-label': label }),
        LOOK,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  // It scrolls: also for those who have only a keyboard.
  view.scrollDOM.tabIndex = 0;
  return {
    show(problems) {
      const { doc } = view.state;
      const placed = problems.map((one): Diagnostic => {
        const { severity, message, hint } = one;
        return { ...rangeOf(doc, one), severity, message: hint === undefined ? message : `${message}\n${hint}` };
      });
      view.dispatch(
        setDiagnostics(
          view.state,
          placed.sort((a, b) => a.from - b.from),
        ),
      );
    },
    goTo(line, column) {
      const { from } = rangeOf(view.state.doc, { line, column });
      view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
      view.focus();
    },
    close() {
      view.destroy();
    },
  };
}

function rangeOf(
  doc: Text,
  { line = 1, column = 1, text = '' }: Pick<PlacedProblem, 'line' | 'column' | 'text'>,
): { readonly from: number; readonly to: number } {
  const { from, to, text: written } = doc.line(Math.min(Math.max(1, line), doc.lines));
  const start = Math.min(to, from + [...written].slice(0, column - 1).join('').length);
  const rest = written.slice(start - from);
  const length = text !== '' && rest.startsWith(text) ? text.length : (/^[^\s:,]+/.exec(rest)?.[0].length ?? 0);
  return { from: start, to: Math.min(to, start + Math.max(1, length)) };
}
