import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { programVersion } from '../../platform/installation.ts';
import { type CheckedFolder, checkAround } from './checked-folder.ts';
import type { Message } from './framed-messages.ts';

/** Numbers of the protocol. */
const SEVERITY = { error: 1, warning: 2, info: 3 } as const;
const FULL_TEXT = 1;
const METHOD_NOT_FOUND = -32601;

type Send = (message: object) => void;

interface TextDocument {
  readonly textDocument: { readonly uri: string; readonly text?: string };
  readonly contentChanges?: readonly { readonly text: string }[];
}

/**
 * A language server over the offline checks: it shows an editor all problems of the documents of a site, or of a package, across
 * their files and as they are typed.
 *
 * @param later runs a check when its user pauses; answers how to give it up
 */
export class LanguageServer {
  readonly #send: Send;
  readonly #later: (work: () => void) => () => void;
  readonly #open = new Map<string, string>();
  /** By folder, the files that have problems shown. */
  readonly #shown = new Map<string, ReadonlySet<string>>();
  readonly #waiting = new Map<string, () => void>();
  #root = '/';
  /** Whether it was asked to end. */
  isEnded = false;

  constructor(send: Send, later: (work: () => void) => () => void) {
    this.#send = send;
    this.#later = later;
  }

  /** Takes a message of the editor. */
  take({ id, method, params }: Message): void {
    const given = (params ?? {}) as TextDocument;
    switch (method) {
      case 'initialize':
        this.#root = rootOf(params);
        this.#answer(id, {
          capabilities: {
            positionEncoding: 'utf-16',
            textDocumentSync: { openClose: true, change: FULL_TEXT, save: true },
          },
          serverInfo: { name: 'sitewright', version: programVersion() },
        });
        return;
      case 'textDocument/didOpen':
        this.#changed(given.textDocument.uri, given.textDocument.text);
        return;
      case 'textDocument/didChange':
        this.#changed(given.textDocument.uri, given.contentChanges?.at(-1)?.text);
        return;
      case 'textDocument/didSave':
        this.#changed(given.textDocument.uri);
        return;
      case 'textDocument/didClose': {
        const path = pathOf(given.textDocument.uri);
        if (path !== undefined) this.#open.delete(path);
        return;
      }
      case 'shutdown':
        for (const giveUp of this.#waiting.values()) giveUp();
        this.#answer(id, null);
        return;
      case 'exit':
        this.isEnded = true;
        return;
      default:
        // Notifications that are not understood are left alone.
        if (id !== undefined && method !== undefined)
          this.#send({ id, error: { code: METHOD_NOT_FOUND, message: `there is no method '${method}'` } });
    }
  }

  #answer(id: Message['id'], result: unknown): void {
    if (id !== undefined) this.#send({ id, result });
  }

  #changed(uri: string, text?: string): void {
    const path = pathOf(uri);
    if (path === undefined) return;
    if (text !== undefined) this.#open.set(path, text);
    this.#waiting.get(path)?.();
    this.#waiting.set(
      path,
      this.#later(() => {
        this.#waiting.delete(path);
        void this.#check(path);
      }),
    );
  }

  async #check(path: string): Promise<void> {
    try {
      const checked = await checkAround(path, this.#root, this.#open);
      if (checked !== undefined) this.#show(checked);
    } catch (error) {
      const message = `the checks failed: ${(error as Error).message}`;
      this.#send({ method: 'window/logMessage', params: { type: SEVERITY.error, message } });
    }
  }

  /** Also of files that are not open; what was shown before and is no problem any more goes. */
  #show({ folder, sources, diagnostics }: CheckedFolder): void {
    const texts = new Map(sources.map(({ name, text }) => [name, text]));
    const byFile = new Map<string, Diagnostic[]>();
    for (const one of diagnostics) {
      const file = one.file ?? folder;
      byFile.set(file, [...(byFile.get(file) ?? []), one]);
    }
    for (const file of this.#shown.get(folder) ?? []) if (!byFile.has(file)) byFile.set(file, []);
    // An open file without problems says so, too.
    for (const file of this.#open.keys()) if (texts.has(file) && !byFile.has(file)) byFile.set(file, []);
    this.#shown.set(folder, new Set([...byFile].flatMap(([file, found]) => (found.length > 0 ? [file] : []))));
    for (const [file, found] of byFile) {
      const lines = (texts.get(file) ?? '').split(/\r?\n/);
      const params = {
        uri: pathToFileURL(file).href,
        diagnostics: found.map(({ severity, code, message, hint, line = 1, column = 1, text = '' }) => ({
          range: rangeOf(lines, line, column, text),
          severity: SEVERITY[severity],
          code,
          source: 'sitewright',
          message: hint === undefined ? message : `${message}\n${hint}`,
        })),
      };
      this.#send({ method: 'textDocument/publishDiagnostics', params });
    }
  }
}

/** Lines and columns from 1, in code points, as the protocol counts: from 0, in UTF-16. Without a text it is the word there. */
function rangeOf(lines: readonly string[], line: number, column: number, text: string) {
  const written = lines[line - 1] ?? '';
  const character = [...written].slice(0, column - 1).join('').length;
  const rest = written.slice(character);
  const length = text !== '' && rest.startsWith(text) ? text.length : (/^[^\s:,]+/.exec(rest)?.[0].length ?? 0);
  return { start: { line: line - 1, character }, end: { line: line - 1, character: character + Math.max(1, length) } };
}

function rootOf(params: unknown): string {
  const { workspaceFolders, rootUri } = (params ?? {}) as {
    readonly workspaceFolders?: readonly { readonly uri: string }[] | null;
    readonly rootUri?: string | null;
  };
  return pathOf(workspaceFolders?.[0]?.uri ?? rootUri ?? '') ?? '/';
}

/** Undefined for what is no file, such as a text without a name. */
function pathOf(uri: string): string | undefined {
  if (!uri.startsWith('file:')) return undefined;
  const path = fileURLToPath(uri);
  return path.length > 1 ? path.replace(/\/$/, '') : path;
}
