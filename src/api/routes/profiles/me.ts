import { z } from 'zod';
import { DEFAULT_PROFILE_FIELDS, PROFILE_FIELDS, type ProfileField } from '../../../domain/access/profile.js';
import { parseFields } from '../../../domain/http/fields.js';
import { Problem } from '../../../domain/http/problem.js';
import { answerTagged } from '../../http/conditional.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { profileEtag, profileSchema } from './profile-view.js';

const query = z.strictObject({
  fields: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .meta({
      // Anything else is refused with a list of the known fields.
      openapi: { type: 'array', items: { enum: [...PROFILE_FIELDS] }, minItems: 1, uniqueItems: true },
      examples: [['id', 'followers_count']],
      description: `Fields to return, in this order, separated by commas. Default: ${DEFAULT_PROFILE_FIELDS.join(',')}. The parameter may be repeated instead.`,
    }),
});

/** The profile behind the token. */
export function meOperations({ database }: ApiDependencies): Operation[] {
  return [
    operation({
      method: 'get',
      path: '/me',
      id: 'getMe',
      summary: 'Retrieve the profile behind the token',
      scope: 'profile:read',
      query,
      headers: {
        'If-None-Match': 'The ETag of an earlier response: the response is 304 if nothing has changed',
      },
      responses: {
        200: {
          description: 'The requested fields',
          schema: profileSchema.omit({ account_id: true }).partial(),
        },
        304: { description: 'Not changed since the answer with that ETag' },
      },
      problems: ['invalid_fields'],
      async handle(ctx, { query: { fields } }) {
        const names = selectFields(fields);
        const { account_id, profile_id } = ctx.state.caller;
        const stored = await database.profiles.get(account_id, profile_id);
        if (!stored) throw new Problem('not_found', 'The profile behind this token has been deleted.');
        const { profile } = stored;
        answerTagged(
          ctx,
          profileEtag(stored),
          Object.fromEntries(names.map((name) => [name, profile[name]])),
        );
      },
    }),
  ];
}

/** Repeated parameters are one list: some generated clients send `fields=id&fields=name`. */
function selectFields(fields: string | string[] | undefined): readonly ProfileField[] {
  if (fields === undefined) return DEFAULT_PROFILE_FIELDS;
  return parseFields([fields].flat().join(','), PROFILE_FIELDS);
}
