import { z } from 'zod';
import { SCOPES } from '../../../domain/access/api-key.js';
import { hashPassword, matchesPassword, PASSWORD_LENGTH } from '../../../domain/access/password.js';
import { QueueFullError } from '../../../domain/basics/bounded-queue.js';
import { Problem } from '../../../domain/http/problem.js';
import type { Login, StoredLogin } from '../../../models/access/logins.js';
import {
  requireHeld,
  requireLasting,
  requireMayEnd,
  requireProfileHeld,
} from '../../http/caller/refusals.js';
import type { ApiDependencies } from '../../http/context.js';
import { found } from '../../http/found.js';
import { type Operation, operation } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';

const loginSchema = z
  .object({
    account_id: z.string(),
    profile_id: z.string(),
    login_name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
  })
  .meta({ id: 'Login' });

const loginBody = z.strictObject({
  login_name: z
    .string()
    .regex(/^[A-Za-z0-9_.@+-]{1,128}$/, 'must be 1 to 128 letters, digits or _ . @ + -')
    .describe('Unique within the account; case does not matter'),
  password: z.string().min(PASSWORD_LENGTH.min).max(PASSWORD_LENGTH.max),
  scopes: z
    .array(z.enum(SCOPES))
    .max(SCOPES.length)
    .default(['profile:read'])
    .describe('The most that the person may allow an OAuth client'),
});

/** Logins: how the people of profiles log in when an OAuth client asks for their consent. */
export function loginOperations({ database }: ApiDependencies): Operation[] {
  const { logins, profiles } = database;
  const loginOf = async (account_id: string, id: string): Promise<StoredLogin | undefined> => {
    await found('profile', id, () => profiles.get(account_id, id));
    return logins.ofProfile(account_id, id);
  };

  return [
    operation('put', '/profiles/:id/login', 'putLogin', {
      summary:
        'Set how the person of a profile logs in; a new password ends the sessions and tokens of the previous one',
      scope: 'keys:write',
      body: loginBody,
      responses: { 200: { description: 'The login, without its password', schema: loginSchema } },
      problems: ['login_name_taken', 'expiring_key'],
      async handle({ account_id, params: { id }, body: { login_name, password, scopes } }, ctx) {
        const before = await loginOf(account_id, id);
        requireLasting(ctx);
        requireProfileHeld(ctx, id, scopes);
        requireHeld(ctx, [...scopes, ...(before?.scopes ?? [])]);
        const login = { account_id, profile_id: id, login_name, scopes: [...new Set(scopes)] };
        const hash = await passwordHash(password, before);
        // A profile has one login, also if two are set at once.
        const put = () => logins.put(login, hash, originOf(ctx));
        if (!(await database.accountLocks.hold(account_id, `login:${id}`, put))) {
          throw new Problem('login_name_taken', `Another profile of the account logs in as ${login_name}.`);
        }
        return login;
      },
    }),

    operation('get', '/profiles/:id/login', 'getLogin', {
      summary: 'Read how the person of a profile logs in',
      scope: 'keys:read',
      responses: { 200: { description: 'The login, without its password', schema: loginSchema } },
      async handle({ account_id, params: { id } }) {
        const login = await loginOf(account_id, id);
        if (!login) throw missing(id);
        return shown(login);
      },
    }),

    operation('delete', '/profiles/:id/login', 'deleteLogin', {
      summary:
        'Delete the login of a profile; its sessions and the tokens that it allowed stop working within 5 seconds. You must hold its scopes',
      scope: 'keys:write',
      responses: { 204: { description: 'Deleted' } },
      async handle({ account_id, params: { id } }, ctx) {
        const login = await loginOf(account_id, id);
        if (!login) throw missing(id);
        requireMayEnd(ctx, login.scopes);
        if (!(await logins.delete(account_id, id, originOf(ctx)))) throw missing(id);
      },
    }),
  ];
}

/** A password that stays keeps its hash, and with it the sessions and grants of the person. */
async function passwordHash(password: string, before: StoredLogin | undefined): Promise<string> {
  try {
    const same = before !== undefined && (await matchesPassword(password, before.password_hash));
    return same ? before.password_hash : await hashPassword(password);
  } catch (error) {
    if (!(error instanceof QueueFullError)) throw error;
    throw new Problem('unavailable', 'Too many passwords are being set or checked. Try again in 2 seconds.', {
      headers: { 'retry-after': '2' },
    });
  }
}

function shown({ account_id, profile_id, login_name, scopes }: StoredLogin): Login {
  return { account_id, profile_id, login_name, scopes };
}

function missing(id: string): Problem {
  return new Problem('not_found', `The profile ${id} has no login.`);
}
