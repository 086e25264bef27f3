import { deepEqual, equal } from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { paths } from './hookline.js';

/**
 * Uses the types that openapi-typescript has generated, with its own client: lists as parameters, bodies, maps, errors
 * as objects, text.
 */
const client = createClient<paths>({
  baseUrl: process.env['HOOKLINE_URL'] ?? '',
  headers: { authorization: `Bearer ${process.env['TOKEN']}` },
});
const me = await client.GET('/v18.0/me', { params: { query: { fields: ['id', 'followers_count'] } } });
equal(me.data?.followers_count, 0);
const body = { username: 'ada_typescript', name: 'Ada Lovelace', followers_count: 1815 };
const created = await client.POST('/v18.0/profiles', { body });
equal(created.data?.username, 'ada_typescript');
const page = await client.GET('/v18.0/profiles', { params: { query: { limit: 1 } } });
equal(page.data?.data.length, 1);
const refused = await client.GET('/v18.0/profiles', { params: { query: { limit: 0 } } });
equal(refused.error?.code, 'invalid_request');
equal(refused.error?.errors?.[0]?.parameter, 'limit');
const endpoint = await client.POST('/v18.0/endpoints', {
  body: {
    target_url: 'https://example.com/typescript',
    event_kinds: ['purchase'],
    metadata: { team: 'billing' },
  },
});
const path = { id: endpoint.data?.id ?? '' };
const shown = await client.GET('/v18.0/endpoints/{id}', { params: { path } });
deepEqual(shown.data?.metadata, { team: 'billing' });
const team: string | undefined = shown.data?.metadata['team'];
equal(team, 'billing');
// @ts-expect-error It is a string, and not a value that there is never.
shown.data?.metadata['team'] satisfies number | undefined;
const query = { from: '2026-01-01T00:00:00Z' };
const exported = await client.GET('/v18.0/exports', { params: { query }, parseAs: 'text' });
const text: string | undefined = exported.data;
equal(typeof text, 'string');
process.stdout.write(
  'a list of fields, a profile, a page, a 400 as an object, an endpoint with metadata, an export: as expected\n',
);
