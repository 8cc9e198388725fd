// Biome formats and lints; eslint is here only for the few rules that need types.
import tseslint from 'typescript-eslint';

const restricted = [
  // One way to be private, which also holds at run time. A constructor has no #, so that its keyword stays.
  {
    selector:
      'PropertyDefinition[accessibility="private"], MethodDefinition[accessibility="private"][kind!="constructor"]',
    message: 'Write #name.',
  },
  {
    selector: 'MemberExpression[property.name="waitForFunction"]',
    message:
      'It evaluates its text inside the page, which our policy for scripts forbids as soon as it has to look twice. Wait for a locator, or use expect.poll with evaluate.',
  },
];

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'test/data/', 'packages/*/test/data/', 'examples/', '**/*.mjs', '**/*.js'] },
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { project: ['./tsconfig.json', './tsconfig.page.json'], tsconfigRootDir: import.meta.dirname },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      // A forgotten `await` in a workflow is a bug that replays for ever.
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      // A new failure variant must be shown everywhere before the build passes.
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-deprecated': 'error',
      'no-restricted-syntax': ['error', ...restricted],
    },
  },
  {
    files: ['workflows/**/*.ts'],
    rules: {
      // Temporal's Web UI shows the summary of a timer, and nothing else says what the run waits for.
      'no-restricted-syntax': [
        'error',
        ...restricted,
        { selector: 'CallExpression[callee.name="sleep"][arguments.length<2]', message: 'Give the timer a summary.' },
      ],
    },
  },
);
