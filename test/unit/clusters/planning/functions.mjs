// Functions for expressions of tests, as a user's module of helpers has them.
/**
 * @param {string} name
 * @param {() => unknown} implementation
 */
const named = (name, implementation) => ({
  name,
  isFunction: true,
  isMethod: false,
  keepsRules: false,
  ownContext: false,
  parameters: [],
  rest: null,
  keywords: null,
  implementation,
  documentation: name,
  chapter: 'Tests',
});

export const helpers = [
  named('greeting', () => 'hello from a helper'),
  named('never_ends', () => {
    for (;;);
  }),
  named('end_of_thread', () => process.exit(3)),
];
