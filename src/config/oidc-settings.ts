import { z } from 'zod';
import { parseDuration, UNITS } from '../domain/basics/duration.js';
import { idPattern } from '../domain/basics/ids.js';
import { isSecureOrLocal, parseUrl } from '../domain/basics/parse-url.js';
import { list, optionalText, parsedOr, text } from './parse.js';

/** Whether a text can be an issuer (OpenID Connect Discovery 1.0, section 3). */
function isIssuer(given: string): boolean {
  const url = parseUrl(given);
  return url !== undefined && isSecureOrLocal(url) && !/[?#@]/.test(given);
}

/** Settings of the sign-in to the desk by OpenID Connect. */
export const oidcSettings = {
  HOOKLINE_OIDC_ISSUER: z
    .string()
    .refine(isIssuer, 'must be an https URL, such as https://login.example.com')
    .optional()
    .describe(
      'OpenID provider with which people sign in to the desk ([sign-in](web.md#single-sign-on)), such as `https://login.example.com`. Its certificate may be signed by `HOOKLINE_EXTRA_CA_FILE`',
    ),
  HOOKLINE_OIDC_CLIENT_ID: optionalText.describe('Id that the provider has given Hookline'),
  HOOKLINE_OIDC_CLIENT_SECRET: optionalText.describe(
    'Secret that belongs to it; absent for a public client. A secret',
  ),
  HOOKLINE_OIDC_ACCOUNT: z
    .string()
    .regex(idPattern('account'), 'must be the id of an account, acct_…')
    .optional()
    .describe('Account that people at the desk belong to: that of `hookline account <name> --operator`'),
  HOOKLINE_OIDC_SCOPES: text
    .default('openid profile email')
    .describe('Scopes that the provider is asked for, separated by spaces; some need `groups` as well'),
  HOOKLINE_OIDC_ROLE_CLAIM: text
    .default('roles')
    .describe(
      'Claim of the ID token, or of UserInfo, that has the roles of a person: a name, or a JSON Pointer such as `/realm_access/roles`',
    ),
  HOOKLINE_OIDC_READ_ROLES: list.describe(
    'Values of this claim whose holders may read everything but secrets',
  ),
  HOOKLINE_OIDC_ACT_ROLES: list.describe(
    'Values of this claim whose holders may do what the operator’s key may',
  ),
  HOOKLINE_OIDC_SESSION: parsedOr('8h', parseDuration)
    .refine((ms) => ms >= UNITS.m && ms <= 12 * UNITS.h, 'must be from 1m to 12h')
    .describe('How long a person stays signed in to the desk'),
};

/** Settings that are missing for people to sign in, once a provider is set: a line for each. */
export function missingForOidc(settings: z.output<z.ZodObject<typeof oidcSettings>>): string[] {
  if (settings.HOOKLINE_OIDC_ISSUER === undefined) return [];
  const needed = (['HOOKLINE_OIDC_CLIENT_ID', 'HOOKLINE_OIDC_ACCOUNT'] as const)
    .filter((name) => settings[name] === undefined)
    .map((name) => `${name}: HOOKLINE_OIDC_ISSUER needs it`);
  if (!settings.HOOKLINE_OIDC_SCOPES.split(' ').includes('openid'))
    needed.push('HOOKLINE_OIDC_SCOPES: must have openid among them');
  const { HOOKLINE_OIDC_READ_ROLES: read, HOOKLINE_OIDC_ACT_ROLES: act } = settings;
  if (read.length + act.length === 0)
    needed.push('HOOKLINE_OIDC_READ_ROLES, HOOKLINE_OIDC_ACT_ROLES: set one of them, or nobody can sign in');
  return needed;
}
