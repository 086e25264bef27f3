import type Router from '@koa/router';
import { z } from 'zod';
import { parseTilePath } from '../../../../packages/tlog/src/index.js';
import { notFound } from '../../../domain/http/problem.js';
import { consistencySchema } from '../../../domain/log/certificate.js';
import type { ApiDependencies, State } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { invalidRequest } from '../../http/validation.js';

const TEXT = 'text/plain; charset=utf-8';

const size = (meaning: string) =>
  z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER).describe(meaning);

/** The log, for everybody: without it nobody could tell whether others are shown the same. It holds hashes alone. */
export function logOperations(dependencies: ApiDependencies): Operation[] {
  const { database, logKeys } = dependencies;
  return [
    operation('get', '/log/checkpoint', 'getLogCheckpoint', {
      summary: 'Read the latest signed checkpoint of the log: a note as C2SP tlog-checkpoint describes it',
      isPublic: true,
      responses: { 200: { description: 'The checkpoint', text: 'A signed note' } },
      problems: ['not_found', 'log_altered'],
      async handle(_input, ctx) {
        ctx.type = TEXT;
        return (await lastCheckpoint(dependencies)).note;
      },
    }),

    operation('get', '/log/key', 'getLogKey', {
      summary: 'Read the public key that verifies checkpoints; several while keys change, a line each',
      isPublic: true,
      responses: {
        200: { description: 'The keys', text: "Verifier keys of Go's golang.org/x/mod/sumdb/note" },
      },
      async handle(_input, ctx) {
        ctx.type = TEXT;
        return (await logKeys.signing()).map(({ text }) => `${text}\n`).join('');
      },
    }),

    operation('get', '/log/proofs', 'getLogProof', {
      summary: 'Prove that the log of one checkpoint is the beginning of the log of a later one',
      isPublic: true,
      query: z.strictObject({
        from: size('Size of the older checkpoint'),
        to: size('Size of the newer checkpoint; absent: the latest').optional(),
      }),
      responses: { 200: { description: 'The proof', schema: consistencySchema } },
      problems: ['not_found', 'log_altered'],
      async handle({ query: { from, to: asked } }) {
        const { size } = await lastCheckpoint(dependencies);
        const to = asked ?? size;
        if (to > size)
          throw invalidRequest([{ parameter: 'to', detail: `must be at most ${size}, the size of the log` }]);
        if (from > to)
          throw invalidRequest([
            { parameter: 'from', detail: `must be at most ${to}, the size to prove it for` },
          ]);
        const proof = await database.log.consistency(from, to);
        return { from, to, proof: proof.map((hash) => hash.toString('base64')) };
      },
    }),
  ];
}

/** @throws Problem 404 if there is none yet */
async function lastCheckpoint({ database: { log }, logKeys }: ApiDependencies) {
  const head = await log.head(await logKeys.known());
  if (!head) throw notFound('checkpoint', 'of the log yet: its first run signs one');
  return head;
}

/** The latest checkpoint, below a prefix that is no version. */
export function checkpointRoute(router: Router<State>, dependencies: ApiDependencies): void {
  router.get('/log/checkpoint', async (ctx) => {
    const { note } = await lastCheckpoint(dependencies);
    ctx.type = TEXT;
    ctx.set('cache-control', 'no-store');
    ctx.body = note;
  });
}

/**
 * Tiles of the log, as C2SP tlog-tiles has them: with the checkpoint beside them, its readers follow the log from
 * `/log` or `/v18.0/log`. And the time stamp of the latest checkpoint as the log signed it, without cosignatures: what
 * a service answered (RFC 3161, section 3.4).
 */
export function tileRoutes(router: Router<State>, { database: { log }, logKeys }: ApiDependencies): void {
  router.get('/log/tile/*path', async (ctx) => {
    const path = String(ctx.params['path']);
    const asked = parseTilePath(path);
    const head = asked && (await log.head(await logKeys.known()));
    const tile = head && (await log.tile(asked.key, asked.width, head.size));
    if (!tile) throw notFound('tile', `${path} in the log`);
    ctx.type = 'application/octet-stream';
    // It never changes: the log only grows.
    ctx.set('cache-control', 'public, max-age=31536000, immutable');
    ctx.body = tile;
  });
  router.get('/log/timestamp', async (ctx) => {
    const { timestamp } = (await log.head(await logKeys.known())) ?? {};
    if (timestamp === undefined)
      throw notFound(
        'time stamp',
        'of the latest checkpoint: HOOKLINE_LOG_TIMESTAMP_URL names who makes them',
      );
    ctx.type = 'application/timestamp-reply';
    ctx.set('cache-control', 'no-store');
    ctx.body = Buffer.from(timestamp, 'base64');
  });
}
