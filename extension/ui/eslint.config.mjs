import a11y from 'eslint-plugin-jsx-a11y';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {ignores: ['dist/', 'node_modules/', 'host/out/', 'test-results/', 'playwright-report/']},
  ...tseslint.configs.strict,
  {
    files: ['src/**/*.{ts,tsx}', 'test/**/*.{ts,tsx}', 'host/**/*.{ts,tsx}'],
    ...a11y.flatConfigs.strict,
  },
  {
    files: ['**/*.{ts,tsx}'],
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', {disallowTypeAnnotations: false}],
      eqeqeq: 'error',
      'no-console': 'error',
      'max-lines': ['error', 400],
    },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: 'Text of a cluster must not become markup.'},
        {selector: "MemberExpression[property.name=/^(innerHTML|outerHTML|insertAdjacentHTML)$/]", message: 'Text of a cluster must not become markup.'},
        {selector: "Literal[value=/^https?:[\\/][\\/]/]", message: 'Nothing is asked but the own origin, and nothing is linked elsewhere.'},
        {selector: "CallExpression[callee.property.name=/^(useId|useTransition|useDeferredValue|useSyncExternalStore|useInsertionEffect)$/]", message: 'React 16 does not have it.'},
      ],
    },
  },
  {
    files: ['test/**', 'e2e/**', 'host/**'],
    rules: {'@typescript-eslint/no-non-null-assertion': 'off', '@typescript-eslint/explicit-module-boundary-types': 'off', 'no-console': 'off'},
  },
);
