import { z } from 'zod';
import { DESK_ROLES } from '../../../domain/access/desk-session.js';
import { sharedDate } from '../../../domain/time/shared-time.js';
import type { ApiDependencies } from '../../http/context.js';
import { found } from '../../http/found.js';
import { type Operation, operation } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { listOperation } from '../../http/paging.js';
import { timeSchema as time } from '../../http/schemas.js';
import { OPERATORS } from './of-accounts.js';

const deskSessionSchema = z
  .object({
    id: z.string(),
    account_id: z.string().describe("The operator's account"),
    issuer: z.string().describe('The identity provider'),
    subject: z.string().describe('As the identity provider calls the person'),
    name: z.string(),
    role: z.enum(DESK_ROLES),
    created_at: time,
    expires_at: time,
  })
  .meta({ id: 'DeskSession' });

/** People who are signed in to the desk: for the operator, who can sign them out. */
export function deskSessionOperations({ database }: ApiDependencies): Operation[] {
  const { deskSessions, holders } = database;
  return [
    listOperation('/installation/desk_sessions', 'listDeskSessions', {
      summary: 'List the people who are signed in to the desk by single sign-on, the latest first',
      ...OPERATORS,
      page: ['A page of sessions', deskSessionSchema],
      read: ({ query: { limit, after } }) => deskSessions.live(sharedDate(), limit + 1, after),
    }),

    operation('delete', '/installation/desk_sessions/:id', 'endDeskSession', {
      summary: 'Sign a person out of the desk; the token stops working within 5 seconds',
      ...OPERATORS,
      responses: { 204: { description: 'Ended' } },
      async handle({ params: { id } }, ctx) {
        const accountId = await found('desk_session', id, () => holders.accountOf('desk_session', id));
        await deskSessions.revoke(accountId, id, originOf(ctx, accountId));
      },
    }),
  ];
}
