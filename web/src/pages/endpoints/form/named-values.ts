/** Names and values as people write them: one on each line, with a colon between. */
export function formatNamedValues(values: Readonly<Record<string, string>> = {}): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** The inverse of {@link formatNamedValues}; or which line is none. */
export function parseNamedValues(text: string): { values: Record<string, string>; mistake?: string } {
  const values: Record<string, string> = {};
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '') continue;
    const [, name = '', value = ''] = /^([^:]+):(.*)$/.exec(line) ?? [];
    if (name.trim() === '') return { values, mistake: `“${line}” is not name: value.` };
    values[name.trim()] = value.trim();
  }
  return { values };
}

/** Waits between retries as people write them: with commas or spaces between. */
export function parseWaits(text: string): string[] {
  return text.split(/[\s,]+/).filter((wait) => wait !== '');
}
