const { options, ...rules } = require('./.dependency-cruiser.cjs');

/** The same rules on the web application, whose JSX needs another parser: of those that need no compiler API, the one that reads it. */
module.exports = {
  ...rules,
  options: {
    ...options,
    parser: 'acorn',
    enhancedResolveOptions: {
      ...options.enhancedResolveOptions,
      extensions: ['.tsx', ...options.enhancedResolveOptions.extensions],
    },
  },
};
