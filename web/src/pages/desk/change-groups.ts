import type { Change } from '../../api/types.js';

/** A change, or those that one replay made one after another. */
export type ChangeGroup<T extends Change> = { change: T; others: T[] };

/**
 * Puts changes together that follow each other and are of one replay, one actor and one action: hundreds of them are
 * one thing that was done.
 */
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

/** How actions are said, with `…` where stands what was acted upon. Others are verbs as they are, such as "created". */
const SAID: Partial<Record<Change['action'], string>> = {
  resent: 'sent … again',
  secret_rotated: 'rotated the secret of …',
  secret_retired: 'ended the previous secret of …',
  verification_failed: 'could not verify …',
  verified: 'verified …',
};

/**
 * Description of a group as a sentence, such as "first key replayed 36 deliveries" or "first key paused the endpoint
 * Warehouse".
 *
 * @param who as people know the actor
 */
export function sentenceOf<T extends Change>({ change, others }: ChangeGroup<T>, who: string): string {
  const count = others.length + 1;
  if (change.actor.type === 'system' && wordOf(change) === 'erasure') return progressOf(change);
  const isReplay = change.replay !== undefined && change.action === 'resent';
  const said = isReplay ? 'replayed …' : (SAID[change.action] ?? `${change.action} …`);
  return `${who} ${said.replace('…', () => (count === 1 ? subjectOf(change) : `${count} ${plural(wordOf(change))}`))}`;
}

/** How far an erasure has come: Hookline itself goes on with it. */
function progressOf({ after }: Change): string {
  if (after?.['status'] === 'complete') return 'the erasure of a subject was completed';
  return after?.['status'] === 'erased'
    ? 'the payloads of a subject were erased'
    : 'the erasure of a subject went on';
}

/** Resource of a change: by its name, where the change has one. */
function subjectOf(change: Change): string {
  const word = wordOf(change);
  const name = nameIn(change.after) ?? nameIn(change.before);
  return name === undefined ? `${/^[aeiou]/i.test(word) ? 'an' : 'a'} ${word}` : `the ${word} ${name}`;
}

function nameIn(resource: Record<string, unknown> | undefined): string | undefined {
  const { name, description, target_url } = resource ?? {};
  return [name, description, hostIn(target_url)].find(
    (text): text is string => typeof text === 'string' && text !== '',
  );
}

function hostIn(url: unknown): string | undefined {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).host : undefined;
}

const WORDS: Record<string, string> = {
  api_key: 'API key',
  desk_session: 'desk session',
  oauth_client: 'OAuth client',
  portal_session: 'portal link',
};

function wordOf({ resource }: Change): string {
  const [kind = ''] = resource.split(':', 1);
  return WORDS[kind] ?? kind.replaceAll('_', ' ');
}

function plural(word: string): string {
  return word.endsWith('y') && !word.endsWith('key') ? `${word.slice(0, -1)}ies` : `${word}s`;
}
