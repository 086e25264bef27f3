import { setTimeout as delay } from 'node:timers/promises';
import { isConsistent, openCheckpoint, readVerifierKey } from '../../../packages/tlog/src/index.js';
import type { LogViews } from '../check/collected.js';
import { ask } from './client.js';
import type { World } from './world.js';

const EVERY_MS = 1_000;

/** Somebody who keeps every checkpoint of the log that any process shows. */
export interface LogWatcher {
  /** Reads the last ones, has the log prove that each continues the one before, and stops. */
  end(): Promise<LogViews>;
}

export function watchLog({ nodes }: World): LogWatcher {
  const notes = new Map<string, { atMs: number; size: number; root: Buffer }>();
  const problems: string[] = [];
  let key: string | undefined;
  let isOver = false;
  const get = (url: string, path: string) => ask(url, '', 'GET', `/v18.0/log/${path}`);

  async function look(url: string): Promise<void> {
    const answer = await get(url, 'checkpoint');
    if (answer.status === 409) problems.push(`${url} answered ${answer.text}`);
    if (answer.status !== 200 || notes.has(answer.text)) return;
    const named = await get(url, 'key');
    if (named.status !== 200) return;
    key ??= named.text;
    if (named.text !== key) problems.push(`the key was ${key} and is ${named.text}`);
    try {
      const { size, root } = openCheckpoint(answer.text, [readVerifierKey(key.trim())]);
      const [last] = [...notes.values()].slice(-1);
      // Processes do not learn of a checkpoint at the same moment, but it is read from one database.
      if (last && size < last.size) problems.push(`a checkpoint of ${size} after one of ${last.size}`);
      notes.set(answer.text, { atMs: Date.now(), size, root });
    } catch (error) {
      problems.push(`${(error as Error).message}: ${JSON.stringify(answer.text)}`);
    }
  }

  const watching = (async () => {
    while (!isOver) {
      for (const { url } of nodes) await look(url);
      await delay(EVERY_MS);
    }
  })();

  async function prove(url: string): Promise<void> {
    const heads = [...notes.values()].filter(({ size }) => size > 0);
    for (const [number, older] of heads.entries()) {
      const newer = heads[number + 1];
      if (!newer || newer.size < older.size) continue;
      if (newer.size === older.size) {
        if (!newer.root.equals(older.root)) problems.push(`two checkpoints of ${older.size} differ`);
        continue;
      }
      const { status, json, text } = await get(url, `proofs?from=${older.size}&to=${newer.size}`);
      const proof = ((json?.proof ?? []) as string[]).map((hash) => Buffer.from(hash, 'base64'));
      if (status !== 200 || !isConsistent(older, newer, proof))
        problems.push(`${newer.size} records do not continue ${older.size}: ${status} ${text.slice(0, 200)}`);
    }
  }

  return {
    async end() {
      isOver = true;
      await watching;
      for (const { url } of nodes) await look(url);
      await prove(nodes[0]?.url ?? '');
      const checkpoints = [...notes.values()].map(({ atMs, size, root }) => ({
        atMs,
        size,
        root: root.toString('base64'),
      }));
      return { checkpoints, problems };
    },
  };
}
