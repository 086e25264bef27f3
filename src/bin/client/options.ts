/** Options that several commands have, as `parseArgs` takes them, and what their help says. */
export const json = { type: 'boolean' } as const;
export const text = { type: 'string' } as const;
export const JSON_HELP = '--json                  for programs: JSON, a line for each';
