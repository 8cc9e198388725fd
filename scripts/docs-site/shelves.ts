/** The shelves of the documents, in reading order; each page is a file of its folder in docs, whose first heading is its title. */
export interface Shelf {
  readonly folder: string;
  readonly title: string;
  readonly about: string;
  readonly pages: readonly string[];
}

export const SHELVES: readonly Shelf[] = [
  {
    folder: 'start',
    title: 'Start',
    about: 'The first hour, from nothing to a run of your own.',
    pages: ['first-site', 'first-graph'],
  },
  {
    folder: 'how-to',
    title: 'How to',
    about: 'One task a page, with the commands.',
    pages: [
      'repair-a-node',
      'try-one-node-first',
      'undo-a-change',
      'move-a-service',
      'rehearse-a-graph',
      'operating',
      'whole-life',
      'upgrade',
      'back-up',
      'access',
      'agents',
      'notices',
      'metrics',
      'containers',
      'kubernetes',
      'debian',
      'temporal',
      'coming-from-fuel',
      'coming-from-shipyard',
    ],
  },
  {
    folder: 'reference',
    title: 'Reference',
    about: 'Every command, route, setting and field.',
    pages: [
      'cli',
      'rest',
      'settings',
      'documents',
      'graphs',
      'task-types',
      'yaql',
      'expression-data',
      'tags',
      'packages',
      'troubleshooting',
      'web-page',
      'terms',
    ],
  },
  {
    folder: 'explain',
    title: 'Explain',
    about: 'Why it is as it is, and what it holds.',
    pages: ['design', 'architecture', 'guarantees', 'scale', 'security', 'stability', 'promises', 'corrected-claims'],
  },
];
