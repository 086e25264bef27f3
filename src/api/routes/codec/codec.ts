import type Router from '@koa/router';
import { z } from 'zod';
import type { Settings } from '../../../config/schema.js';
import { hashSecret, matchesHash } from '../../../domain/access/secret-hash.js';
import { Problem } from '../../../domain/http/problem.js';
import { EncryptionCodec, PayloadCodecError } from '../../../temporal/server/payload-codec.js';
import { checkBytes, readJsonBytes } from '../../http/body.js';
import { isFromThisMachine, temporalUiOrigins } from '../../http/caller/this-machine.js';
import type { ApiDependencies, Context, Development, State } from '../../http/context.js';
import { invalidRequest } from '../../http/validation.js';

/** A payload as Temporal's JSON has it: bytes in base64. */
const payloadSchema = z.object({
  metadata: z.record(z.string(), z.base64()).default({}),
  data: z.base64().default(''),
});
const bodySchema = z.object({ payloads: z.array(payloadSchema).max(10_000) });

type JsonPayload = z.output<typeof payloadSchema>;

/**
 * A codec server (https://docs.temporal.io/production-deployment/data-encryption#codec-server-setup), with which
 * Temporal UI and the command line show what is encrypted in histories. It is there if both settings are: a token, and
 * the one origin that browsers may ask from; and under `hookline dev`.
 */
export function codecRoutes(
  router: Router<State>,
  { settings, development }: Pick<ApiDependencies, 'settings' | 'development'>,
): void {
  const access = accessByToken(settings) ?? accessOnThisMachine(development);
  if (!access) return;
  const codec = new EncryptionCodec(settings.HOOKLINE_PAYLOAD_KEYS);

  router.options('/codec/:way', (ctx) => {
    allowOrigin(ctx, access.origins);
    ctx.set({
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization, content-type, x-namespace',
      'access-control-max-age': '600',
    });
    ctx.status = 204;
  });

  for (const way of ['encode', 'decode'] as const) {
    router.post(`/codec/${way}`, async (ctx) => {
      allowOrigin(ctx, access.origins);
      access.require(ctx);
      // Temporal UI sends the payloads of one page of a history.
      const { payloads } = checkBytes(bodySchema, await readJsonBytes(ctx, 8 * 1024 * 1024));
      ctx.set('cache-control', 'no-store');
      ctx.body = { payloads: (await translate(codec, way, payloads)).map(toJson) };
    });
  }
}

/** Who may ask. */
interface Access {
  /** Pages that may ask from a browser. */
  origins: readonly string[];
  /** @throws Problem for whoever may not */
  require(ctx: Context): void;
}

function accessByToken({ HOOKLINE_CODEC_TOKEN: token, HOOKLINE_CODEC_ORIGIN: origin }: Settings) {
  if (token === undefined || origin === undefined) return undefined;
  const expected = hashSecret(token);
  return { origins: [origin], require: (ctx: Context) => requireToken(ctx, expected) };
}

/**
 * The development server's UI can send no token, so that a page of its own on this machine may ask without one. Whoever
 * else is on this machine reaches that server, too.
 */
function accessOnThisMachine(development: Development | undefined): Access | undefined {
  if (development?.temporalUiUrl === undefined) return undefined;
  const origins = temporalUiOrigins(development);
  return {
    origins,
    require(ctx) {
      if (!origins.includes(ctx.get('origin')) || !isFromThisMachine(ctx))
        throw new Problem(
          'missing_token',
          'Under `hookline dev`, Temporal UI on this machine alone may ask.',
        );
    },
  };
}

/** Other pages may not ask from a browser. The command line sends no origin. */
function allowOrigin(ctx: Context, origins: readonly string[]): void {
  ctx.vary('Origin');
  const asked = ctx.get('origin');
  if (asked === '') return;
  if (!origins.includes(asked))
    throw new Problem('missing_scope', `Browsers may ask from ${origins.join(' and ')} alone.`);
  ctx.set('access-control-allow-origin', asked);
}

function requireToken(ctx: Context, expected: string): void {
  const [scheme = '', given = ''] = ctx.get('authorization').split(' ');
  if (scheme.toLowerCase() !== 'bearer' || given === '')
    throw new Problem('missing_token', 'Send HOOKLINE_CODEC_TOKEN as a bearer token.');
  if (!matchesHash(given, expected))
    throw new Problem('invalid_token', 'The token is not HOOKLINE_CODEC_TOKEN.');
}

async function translate(codec: EncryptionCodec, way: 'encode' | 'decode', payloads: JsonPayload[]) {
  const read = payloads.map(({ metadata, data }) => ({
    metadata: Object.fromEntries(Object.entries(metadata).map(([name, text]) => [name, fromBase64(text)])),
    data: fromBase64(data),
  }));
  try {
    return await codec[way](read);
  } catch (error) {
    if (error instanceof PayloadCodecError)
      throw invalidRequest([{ pointer: '/payloads', detail: `cannot be read: ${error.message}` }]);
    throw error;
  }
}

function toJson({ metadata, data }: Awaited<ReturnType<typeof translate>>[number]) {
  return {
    metadata: Object.fromEntries(
      Object.entries(metadata ?? {}).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]),
    ),
    data: Buffer.from(data ?? []).toString('base64'),
  };
}

function fromBase64(text: string): Buffer {
  return Buffer.from(text, 'base64');
}
