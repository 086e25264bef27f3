import { z } from 'zod';
import { ownProfileId } from '../../../domain/access/profile.js';
import { isId } from '../../../domain/basics/ids.js';
import { notFound, Problem } from '../../../domain/http/problem.js';
import type { StoredProfile } from '../../../models/access/profiles.js';
import { answerTagged, changedMeanwhile, requireMatch } from '../../http/conditional.js';
import type { ApiDependencies, Context } from '../../http/context.js';
import { requireMayEnd } from '../../http/grantable.js';
import { type Operation, operation, pathTo } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { cutPage, pagingParameters, renderPage } from '../../http/paging.js';
import { pageOf } from '../../http/schemas.js';
import { profileEtag, profileSchema } from './profile-view.js';

/** The largest count: up to here, every JSON parser reads integers exactly. */
const MAX_COUNT = Number.MAX_SAFE_INTEGER;
const count = z.int().min(0).max(MAX_COUNT).default(0);
const webAddress = z
  .string()
  .max(2_048)
  .regex(/^https:\/\/[\w.-]+(\/[\w./~%-]*)?$/, 'must be an https URL, such as https://example.com/ada')
  .nullable()
  .default(null);

const profileBody = z.strictObject({
  username: z.string().regex(/^[a-z0-9_.]{1,64}$/, 'must be 1 to 64 characters of a-z, 0-9, _ and .'),
  name: z.string().min(1).max(256),
  biography: z.string().max(1_000).default(''),
  website: webAddress,
  picture_url: webAddress,
  followers_count: count,
  following_count: count,
  posts_count: count,
});

const IF_MATCH = {
  'If-Match': 'The ETag that was read: the response is 412 if the profile has changed since',
};

/** Profiles, for the account's own systems. */
export function profileOperations({ database }: ApiDependencies): Operation[] {
  const { profiles } = database;
  const read = async (ctx: Context, id: string, fresh = false): Promise<StoredProfile> => {
    const { account_id } = ctx.state.caller;
    const stored = isId('profile', id) ? await profiles[fresh ? 'fresh' : 'get'](account_id, id) : undefined;
    if (!stored) throw notFound('profile', id);
    return stored;
  };

  return [
    operation({
      method: 'post',
      path: '/profiles',
      id: 'createProfile',
      summary: 'Create a profile',
      scope: 'profiles:write',
      body: profileBody,
      example: {
        username: 'ada',
        name: 'Ada Lovelace',
        website: 'https://example.com/ada',
        followers_count: 1815,
      },
      responses: { 201: { description: 'The profile', schema: profileSchema } },
      problems: [],
      async handle(ctx, { body }) {
        const stored = await profiles.create(ctx.state.caller.account_id, body, originOf(ctx));
        ctx.status = 201;
        ctx.set({
          location: pathTo(ctx, '/profiles/:id', { id: stored.profile.id }),
          etag: profileEtag(stored),
        });
        ctx.body = stored.profile;
      },
    }),

    operation({
      method: 'get',
      path: '/profiles',
      id: 'listProfiles',
      summary: 'List profiles, oldest first',
      scope: 'profiles:read',
      query: z.strictObject(pagingParameters),
      responses: { 200: { description: 'A page of profiles', schema: pageOf(profileSchema) } },
      problems: [],
      async handle(ctx, { query: { limit, after } }) {
        const rows = await profiles.list(ctx.state.caller.account_id, limit + 1, after);
        ctx.body = renderPage(
          ctx,
          cutPage(
            rows.map(({ profile }) => profile),
            limit,
          ),
        );
      },
    }),

    operation({
      method: 'get',
      path: '/profiles/:id',
      id: 'getProfile',
      summary: 'Retrieve a profile',
      scope: 'profiles:read',
      headers: {
        'If-None-Match': 'The ETag of an earlier response: the response is 304 if nothing has changed',
      },
      responses: {
        200: { description: 'The profile', schema: profileSchema },
        304: { description: 'Not changed since the answer with that ETag' },
      },
      problems: [],
      async handle(ctx, { params: { id = '' } }) {
        const stored = await read(ctx, id);
        answerTagged(ctx, profileEtag(stored), stored.profile);
      },
    }),

    operation({
      method: 'put',
      path: '/profiles/:id',
      id: 'replaceProfile',
      summary: 'Replace a profile; omitted fields get their defaults',
      scope: 'profiles:write',
      body: profileBody,
      headers: IF_MATCH,
      responses: { 200: { description: 'The replaced profile', schema: profileSchema } },
      problems: [],
      async handle(ctx, { params: { id = '' }, body }) {
        const { account_id, version } = flatten(await read(ctx, id, true), ctx);
        const stored = await profiles.replace(account_id, id, body, version, originOf(ctx));
        if (!stored) throw changedMeanwhile();
        ctx.set('etag', profileEtag(stored));
        ctx.body = stored.profile;
      },
    }),

    operation({
      method: 'delete',
      path: '/profiles/:id',
      id: 'deleteProfile',
      summary:
        "Delete a profile with its login, whose scopes you must hold, and OAuth tokens; an account's own profile cannot be deleted",
      scope: 'profiles:write',
      headers: IF_MATCH,
      responses: { 204: { description: 'Deleted' } },
      problems: ['profile_in_use'],
      async handle(ctx, { params: { id = '' } }) {
        const { account_id, version } = flatten(await read(ctx, id, true), ctx);
        if (id === ownProfileId(account_id)) {
          throw new Problem(
            'profile_in_use',
            "This is the account's own profile, which its API keys act for. It cannot be deleted; replace it instead.",
          );
        }
        requireMayEnd(ctx, (await database.logins.ofProfile(account_id, id))?.scopes ?? []);
        if (!(await profiles.delete(account_id, id, version, originOf(ctx)))) throw changedMeanwhile();
        await database.logins.delete(account_id, id, originOf(ctx));
        await database.oauthRecords.revokeAllOf('profile', id);
        ctx.status = 204;
      },
    }),
  ];
}

/** Checks `If-Match` against the version read. */
function flatten(stored: StoredProfile, ctx: Context) {
  requireMatch(ctx, profileEtag(stored));
  return { account_id: stored.profile.account_id, version: stored.version };
}
