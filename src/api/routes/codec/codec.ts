import type Router from '@koa/router';
import { z } from 'zod';
import { hashSecret, matchesHash } from '../../../domain/access/secret-hash.js';
import { Problem } from '../../../domain/http/problem.js';
import { EncryptionCodec, PayloadCodecError } from '../../../temporal/server/payload-codec.js';
import { checkBytes, invalidRequest, readJsonBytes } from '../../http/body.js';
import type { ApiDependencies, Context, State } from '../../http/context.js';

/** Temporal UI sends the payloads of one page of a history. Bytes. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** How long a browser remembers that it may ask, seconds. */
const PREFLIGHT_S = 600;

/** A payload as Temporal's JSON has it: bytes in base64. */
const payloadSchema = z.object({
  metadata: z.record(z.string(), z.base64()).default({}),
  data: z.base64().default(''),
});
const bodySchema = z.object({ payloads: z.array(payloadSchema).max(10_000) });

type JsonPayload = z.output<typeof payloadSchema>;

/**
 * A codec server (https://docs.temporal.io/production-deployment/data-encryption#codec-server-setup), with which Temporal UI and the command
 * line show what is encrypted in histories. It is there if both settings are: a token, and the one origin that browsers may ask from.
 */
export function codecRoutes(router: Router<State>, { settings }: Pick<ApiDependencies, 'settings'>): void {
  const { HOOKLINE_CODEC_TOKEN: token, HOOKLINE_CODEC_ORIGIN: origin } = settings;
  if (token === undefined || origin === undefined) return;
  const codec = new EncryptionCodec(settings.HOOKLINE_PAYLOAD_KEYS);
  const expected = hashSecret(token);

  router.options('/codec/:way', (ctx) => {
    allowOrigin(ctx, origin);
    ctx.set({
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization, content-type, x-namespace',
      'access-control-max-age': String(PREFLIGHT_S),
    });
    ctx.status = 204;
  });

  for (const way of ['encode', 'decode'] as const) {
    router.post(`/codec/${way}`, async (ctx) => {
      allowOrigin(ctx, origin);
      requireToken(ctx, expected);
      const bytes = await readJsonBytes(ctx, MAX_BODY_BYTES);
      const { payloads } = checkBytes(bodySchema, bytes);
      ctx.set('cache-control', 'no-store');
      ctx.body = { payloads: (await translate(codec, way, payloads)).map(toJson) };
    });
  }
}

/** Only pages of the configured origin may ask from a browser. The command line sends no origin. */
function allowOrigin(ctx: Context, origin: string): void {
  ctx.vary('Origin');
  const asked = ctx.get('origin');
  if (asked === '') return;
  if (asked !== origin)
    throw new Problem('missing_scope', 'Browsers may ask from HOOKLINE_CODEC_ORIGIN alone.');
  ctx.set('access-control-allow-origin', origin);
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
