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
      // What is sent otherwise is refused with a list of what is known.
      openapi: { type: 'array', items: { enum: [...PROFILE_FIELDS] }, minItems: 1, uniqueItems: true },
      examples: [['id', 'followers_count']],
      description: `Fields to answer with, separated by commas, each once. Default: ${DEFAULT_PROFILE_FIELDS.join(',')}.`,
    }),
});

/** The profile behind the token. */
export function meOperations({ database }: ApiDependencies): Operation[] {
  return [
    operation({
      method: 'get',
      path: '/me',
      id: 'getMe',
      summary: 'Read the profile behind the token: the named fields, in that order',
      scope: 'profile:read',
      query,
      headers: { 'If-None-Match': 'An ETag of an earlier answer: 304 where nothing has changed' },
      responses: {
        200: {
          description: 'The fields asked for',
          schema: profileSchema.omit({ account_id: true }).partial(),
        },
        304: { description: 'Unchanged since the answer with that ETag' },
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

function selectFields(fields: string | string[] | undefined): readonly ProfileField[] {
  if (fields === undefined) return DEFAULT_PROFILE_FIELDS;
  if (Array.isArray(fields)) {
    const detail = `was sent ${fields.length} times; name all fields in one, separated by commas; known: ${PROFILE_FIELDS.join(', ')}`;
    throw new Problem('invalid_fields', `The parameter fields ${detail}.`, {
      errors: [{ parameter: 'fields', detail }],
    });
  }
  return parseFields(fields, PROFILE_FIELDS);
}
