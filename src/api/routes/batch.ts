import pLimit from 'p-limit';
import { z } from 'zod';
import { Problem } from '../../domain/http/problem.js';
import type { Context } from '../http/context.js';
import { type Operation, operation } from '../http/operation.js';
import { invalidRequest } from '../http/validation.js';

/** Bounds of a batch. */
const BATCH_BOUNDS = {
  reads: 50,
  atOnce: 4,
  /** All responses together. */
  bytes: 8 * 1024 * 1024,
} as const;

/** Makes a read of the API as if its request had come by itself. */
export type Dispatch = (read: {
  url: string;
  headers: Record<string, string>;
  remoteAddress: string;
}) => Promise<{ statusCode: number; headers: Record<string, unknown>; body: string }>;

const batchBody = z.strictObject({
  reads: z
    .array(
      z
        .string()
        .max(4_096)
        .regex(/^\/v\d[^\s#]*$/, 'must be a path of the API, such as /v18.0/me?fields=id'),
    )
    .min(1)
    .max(BATCH_BOUNDS.reads)
    .describe('Paths with their queries, as paging.next has them'),
});

const batchSchema = z
  .object({
    responses: z.array(
      z.object({
        status: z.int(),
        body: z.unknown().describe('Body of the response that the read has by itself; null if none'),
      }),
    ),
  })
  .meta({
    id: 'BatchResponse',
    examples: [{ responses: [{ status: 200, body: { id: 'prof_01M7Y6GW4KS6J1CRXD65YC46K4' } }] }],
  });

/** Headers of a batch that each of its reads has as well. */
const PASSED_ON = [
  'authorization',
  'hookline-account',
  'host',
  'user-agent',
  'x-forwarded-for',
  'x-forwarded-proto',
];

/**
 * Several reads in one request. Each goes through all that a request of its own goes through: it is authorized, counted
 * by the rate limits, logged and answered by itself.
 *
 * @param excluded resources whose responses are not JSON, or are sent line by line
 */
export function readBatchOperations(dispatch: Dispatch, excluded: ReadonlySet<string>): Operation[] {
  return [
    operation('post', '/batch', 'batchReads', {
      summary: 'Make up to 50 reads in one request, each with its status; each counts for the rate limits',
      isAboutAccounts: true,
      openToReaders: true,
      body: batchBody,
      example: { reads: ['/v18.0/me?fields=id', '/v18.0/deliveries?status=retrying&fields=id,reason'] },
      responses: { 200: { description: 'The responses, in the order of the reads', schema: batchSchema } },
      async handle({ body: { reads } }, ctx) {
        const errors = reads.flatMap((path, index) =>
          excluded.has(path.split(/[/?]/)[2] ?? '')
            ? [{ pointer: `/reads/${index}`, detail: 'is not for batches; ask for it by itself' }]
            : [],
        );
        if (errors.length > 0) throw invalidRequest(errors);
        const responses = await answerAll(reads, dispatch, ctx);
        ctx.type = 'application/json';
        // Bodies are put in as they are: parsing them could change their numbers.
        const texts = responses.map(({ statusCode: status, headers, body }) => {
          const isJson = /json/.test(String(headers['content-type']));
          return `{"status":${status},"body":${isJson ? body : 'null'}}`;
        });
        ctx.body = `{"responses":[${texts.join()}]}`;
      },
    }),
  ];
}

async function answerAll(reads: readonly string[], dispatch: Dispatch, ctx: Context) {
  const headers = Object.fromEntries(
    PASSED_ON.flatMap((name) => (ctx.get(name) === '' ? [] : [[name, ctx.get(name)]])),
  );
  const { access_token } = ctx.query;
  if (typeof access_token === 'string') headers['authorization'] = `Bearer ${access_token}`;
  const remoteAddress = ctx.req.socket.remoteAddress ?? '';
  const limit = pLimit(BATCH_BOUNDS.atOnce);
  let bytes = 0;
  return limit.map(reads, async (url) => {
    if (bytes > BATCH_BOUNDS.bytes) throw tooLarge();
    const response = await dispatch({ url, headers, remoteAddress });
    bytes += Buffer.byteLength(response.body);
    if (bytes > BATCH_BOUNDS.bytes) throw tooLarge();
    return response;
  });
}

function tooLarge(): Problem {
  return new Problem(
    'invalid_request',
    `The responses come to more than ${BATCH_BOUNDS.bytes / 1024 / 1024} MiB together. Ask for fewer reads at once, or for fewer fields.`,
  );
}
