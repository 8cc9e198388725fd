import { readFileSync } from 'node:fs';

/** A recorded case; see test/data/deckhand/README.md. */
export interface Vector<Expected> {
  readonly id: string;
  readonly title: string;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly compare?: { readonly keyOrder?: boolean };
  readonly input: readonly Readonly<Record<string, unknown>>[];
  readonly expected: Expected;
  readonly judgement?: {
    readonly verdict: 'follow' | 'better';
    readonly want?: Want;
  };
}

interface Want {
  readonly accept?: readonly ('error' | 'warning' | 'ok')[];
  readonly data?: Readonly<Record<string, unknown>>;
  readonly storage?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly volumeGroups?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export const readVectors = <Expected>(topic: string): readonly Vector<Expected>[] =>
  JSON.parse(
    readFileSync(new URL(`../../data/deckhand/${topic}.json`, import.meta.url), 'utf8'),
  ) as readonly Vector<Expected>[];

/** The documents as a file. */
export const fileOf = (documents: readonly unknown[]) => [
  { name: 'site.yaml', text: documents.map((document) => `---\n${JSON.stringify(document)}\n`).join('') },
];
