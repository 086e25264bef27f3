import ipaddr from 'ipaddr.js';
import { parseUrl } from '../../../domain/basics/parse-url.js';
import type { Context, Development } from '../context.js';

/** Names by which a browser on this machine reaches it. */
const HOSTS = ['127.0.0.1', 'localhost', '[::1]'];

/** Headers that a proxy or a tunnel adds: then somebody else may ask. */
const FORWARDED = /^(forwarded|via|x-forwarded-.*|x-real-ip|x-original-.*|.*-connecting-ip|true-client-ip)$/;

/**
 * Whether a request was sent on this machine to this machine: over loopback, to a name of it, and through nothing that
 * says that it passes on what others ask.
 */
export function isFromThisMachine({ req: { socket, headers } }: Pick<Context, 'req'>): boolean {
  const host = parseUrl(`http://${headers.host}`)?.hostname ?? '';
  return (
    isLoopback(socket.remoteAddress) &&
    HOSTS.includes(host) &&
    !Object.keys(headers).some((name) => FORWARDED.test(name))
  );
}

/**
 * The origin of a page of ours that asks, under `hookline dev`. A browser lets no other page say that it is one.
 */
export function ownPageOf(ctx: Context, development: Development | undefined): string | undefined {
  if (!development || !isFromThisMachine(ctx)) return undefined;
  const own = `http://${ctx.req.headers.host}`;
  const origin = ctx.get('origin') || (ctx.get('sec-fetch-site') === 'same-origin' ? own : '');
  return origin === own ? origin : undefined;
}

function isLoopback(address = ''): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
