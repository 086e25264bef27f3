import { z } from 'zod';
import {
  DEFAULT_PROFILE_FIELDS,
  ownProfileId,
  PROFILE_FIELDS,
  type ProfileField,
} from '../../../domain/access/profile.js';
import { parseFields } from '../../../domain/http/fields.js';
import { Problem } from '../../../domain/http/problem.js';
import type { StoredProfile } from '../../../models/access/profiles.js';
import { requireMayEnd } from '../../http/caller/refusals.js';
import {
  answerTagged,
  changedMeanwhile,
  IF_NONE_MATCH,
  NOT_CHANGED,
  requireMatch,
} from '../../http/conditional.js';
import type { ApiDependencies, Context } from '../../http/context.js';
import { found, oneAfterAnother } from '../../http/found.js';
import { type Operation, operation } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { listOperation } from '../../http/paging.js';
import { timeSchema as time } from '../../http/schemas.js';

/** Up to what every JSON parser reads exactly. */
const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0);
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

const profileSchema = z
  .object({
    id: z.string(),
    account_id: z.string(),
    username: z.string(),
    name: z.string(),
    biography: z.string(),
    website: z.string().nullable(),
    picture_url: z.string().nullable(),
    followers_count: z.int().min(0),
    following_count: z.int().min(0),
    posts_count: z.int().min(0),
    created_at: time,
    updated_at: time,
  })
  .meta({
    id: 'Profile',
    examples: [
      {
        id: 'prof_01M7Y6GW4KS6J1CRXD65YC46K4',
        account_id: 'acct_01M7Y6GW4KS6J1CRXD65YC46K4',
        username: 'ada',
        name: 'Ada Lovelace',
        biography: '',
        website: 'https://example.com/ada',
        picture_url: null,
        followers_count: 1815,
        following_count: 0,
        posts_count: 0,
        created_at: '2026-11-21T12:00:00.000Z',
        updated_at: '2026-11-21T12:00:00.000Z',
      },
    ],
  });

/**
 * A profile's entity tag: it changes with every write, and is never that of another profile at the same address
 * (`/me`).
 */
function profileEtag({ profile, version }: StoredProfile): string {
  return `"${profile.id}.${version}"`;
}

const meQuery = z.strictObject({
  fields: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .meta({
      // Anything else is refused with a list of the known fields.
      openapi: {
        type: 'array',
        items: { type: 'string', enum: [...PROFILE_FIELDS] },
        minItems: 1,
        uniqueItems: true,
      },
      examples: [['id', 'followers_count']],
      description: `Fields to return, in this order, separated by commas. Default: ${DEFAULT_PROFILE_FIELDS.join(',')}. The parameter may be repeated instead.`,
    }),
});

const IF_MATCH = {
  'If-Match': 'The ETag that was read: the response is 412 if the profile has changed since',
};

/** The profile behind the token, and profiles, for the account's own systems. */
export function profileOperations({ database }: ApiDependencies): Operation[] {
  const { profiles } = database;
  /** The version to be changed, which is checked against `If-Match`. */
  const versionOf = async (ctx: Context, account_id: string, id: string): Promise<number> => {
    const stored = await found('profile', id, () => profiles.fresh(account_id, id));
    requireMatch(ctx, profileEtag(stored));
    return stored.version;
  };

  return [
    operation('get', '/me', 'getMe', {
      summary: 'Retrieve the profile behind the token',
      scope: 'profile:read',
      query: meQuery,
      headers: IF_NONE_MATCH,
      responses: {
        200: {
          description: 'The requested fields',
          schema: profileSchema.omit({ account_id: true }).partial(),
        },
        ...NOT_CHANGED,
      },
      problems: ['invalid_fields'],
      async handle({ account_id, query: { fields } }, ctx) {
        const names = selectFields(fields);
        const stored = await profiles.get(account_id, ctx.state.caller.profile_id);
        if (!stored) throw new Problem('not_found', 'The profile behind this token has been deleted.');
        const { profile } = stored;
        const chosen = Object.fromEntries(names.map((name) => [name, profile[name]]));
        answerTagged(ctx, profileEtag(stored), chosen);
      },
    }),

    operation('post', '/profiles', 'createProfile', {
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
      location: '/profiles/:id',
      async handle({ account_id, body }, ctx) {
        const stored = await profiles.create(account_id, body, originOf(ctx));
        ctx.set('etag', profileEtag(stored));
        return stored.profile;
      },
    }),

    listOperation('/profiles', 'listProfiles', {
      summary: 'List profiles, oldest first',
      scope: 'profiles:read',
      page: ['A page of profiles', profileSchema],
      async read({ account_id, query: { limit, after } }) {
        const rows = await profiles.list(account_id, limit + 1, after);
        return rows.map(({ profile }) => profile);
      },
    }),

    operation('get', '/profiles/:id', 'getProfile', {
      summary: 'Retrieve a profile',
      scope: 'profiles:read',
      headers: IF_NONE_MATCH,
      responses: { 200: { description: 'The profile', schema: profileSchema }, ...NOT_CHANGED },
      async handle({ account_id, params: { id } }, ctx) {
        const stored = await found('profile', id, () => profiles.get(account_id, id));
        answerTagged(ctx, profileEtag(stored), stored.profile);
      },
    }),

    operation('put', '/profiles/:id', 'replaceProfile', {
      summary: 'Replace a profile; omitted fields get their defaults',
      scope: 'profiles:write',
      body: profileBody,
      headers: IF_MATCH,
      responses: { 200: { description: 'The replaced profile', schema: profileSchema } },
      async handle({ account_id, params: { id }, body }, ctx) {
        const stored = await oneAfterAnother(database, account_id, 'profile', id, async () => {
          const version = await versionOf(ctx, account_id, id);
          return profiles.replace(account_id, id, body, version, originOf(ctx));
        });
        if (!stored) throw changedMeanwhile();
        if (stored === 'untold')
          throw new Problem(
            'unavailable',
            'Events about earlier changes of this profile wait to be accepted. Nothing was changed; try again later.',
            { headers: { 'retry-after': '60' } },
          );
        ctx.set('etag', profileEtag(stored));
        return stored.profile;
      },
    }),

    operation('delete', '/profiles/:id', 'deleteProfile', {
      summary:
        "Delete a profile with its login, whose scopes you must hold, and OAuth tokens; an account's own profile cannot be deleted",
      scope: 'profiles:write',
      headers: IF_MATCH,
      responses: { 204: { description: 'Deleted' } },
      problems: ['profile_in_use'],
      async handle({ account_id, params: { id } }, ctx) {
        const version = await versionOf(ctx, account_id, id);
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
      },
    }),
  ];
}

/** Repeated parameters are one list: some generated clients send `fields=id&fields=name`. */
function selectFields(fields: string | string[] | undefined): readonly ProfileField[] {
  if (fields === undefined) return DEFAULT_PROFILE_FIELDS;
  return parseFields([fields].flat().join(','), PROFILE_FIELDS);
}
