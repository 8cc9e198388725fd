/** The shelves of the documents, in reading order; each page is a file of its folder in docs, whose first heading is its title. */
export interface Shelf {
  readonly folder: string;
  readonly title: string;
  readonly pages: readonly string[];
}

export const SHELVES: readonly Shelf[] = [
  {
    folder: 'start',
    title: 'Start',
    pages: ['first-site', 'first-graph', 'first-rollout'],
  },
  {
    folder: 'how-to',
    title: 'How to',
    pages: [
      'repair-a-node',
      'rehearse-a-run',
      'try-one-node-first',
      'roll-out-in-waves',
      'limit-changes',
      'undo-a-change',
      'move-a-service',
      'operating',
      'upgrade',
      'back-up',
      'access',
      'agents',
      'monitor',
      'install',
      'verify-artifacts',
      'temporal',
      'coming-from-fuel',
      'coming-from-shipyard',
    ],
  },
  {
    folder: 'reference',
    title: 'Reference',
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
      'versions',
      'terms',
    ],
  },
  {
    folder: 'explain',
    title: 'Explain',
    pages: ['design', 'architecture', 'guarantees', 'rollouts', 'scale', 'security', 'stability'],
  },
];

/** Where the site has the page of a file: the one rule for links, files and the search. */
export const addressOf = (path: string): string =>
  path === 'README.md' ? 'index.html' : path.replace(/\.md$/, '.html');
