import type { Change } from '../../api/types.js';

/** One thing that a change made different, as text. */
export interface Difference {
  /** JSON Pointer into the resource. */
  pointer: string;
  before?: string;
  after?: string;
}

/** Differences that a change made; secrets have no values. */
export function differences({ changed, before, after }: Change): Difference[] {
  return changed.map((pointer) => {
    const [old, next] = [textAt(before, pointer), textAt(after, pointer)];
    return { pointer, ...(old !== undefined && { before: old }), ...(next !== undefined && { after: next }) };
  });
}

function textAt(resource: unknown, pointer: string): string | undefined {
  let value = resource;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}
