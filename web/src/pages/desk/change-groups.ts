import type { Change } from '../../api/types.js';

/** A change, or those that one replay made one after another. */
export type ChangeGroup<T extends Change> = { change: T; others: T[] };

/** Puts changes together that follow each other and are of one replay, one actor and one action: hundreds of them are one thing that was done. */
export function groupChanges<T extends Change>(changes: readonly T[]): ChangeGroup<T>[] {
  const groups: ChangeGroup<T>[] = [];
  for (const change of changes) {
    const last = groups.at(-1);
    const isSame =
      last !== undefined &&
      change.replay !== undefined &&
      change.replay === last.change.replay &&
      change.action === last.change.action &&
      change.outcome === last.change.outcome &&
      change.actor.id === last.change.actor.id;
    if (isSame) last.others.push(change);
    else groups.push({ change, others: [] });
  }
  return groups;
}

const DONE: Record<string, string> = { resent: 'sent again', retried: 'retried', cancelled: 'cancelled' };

/** What a group says as a sentence, such as "first key sent 36 deliveries again". @param who as people know the actor */
export function sentenceOf<T extends Change>({ change, others }: ChangeGroup<T>, who: string): string {
  const count = others.length + 1;
  const [kind = ''] = change.resource.split(':', 1);
  const word = kind.replaceAll('_', ' ');
  const what = count === 1 ? `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}` : `${count} ${plural(word)}`;
  const done = change.action.replaceAll('_', ' ');
  const [verb = done, ...rest] = (DONE[change.action] ?? done).split(' ');
  return [who, verb, what, ...rest].join(' ');
}

function plural(word: string): string {
  return word.endsWith('y') && !word.endsWith('key') ? `${word.slice(0, -1)}ies` : `${word}s`;
}
