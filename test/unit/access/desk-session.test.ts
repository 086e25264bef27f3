import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { loadSettings } from '../../../src/config/load.js';
import { ACCOUNT_SCOPES } from '../../../src/domain/access/api-key.js';
import { claimIn, DESK_SCOPES, deskRoleOf, isSubject } from '../../../src/domain/access/desk-session.js';

const NAMES = { act: ['ops', 'on-call'], read: ['staff'] };

describe('roles at the desk', () => {
  it('come from a text or a list, and the greater one counts', () => {
    equal(deskRoleOf('staff', NAMES), 'read');
    equal(deskRoleOf(['staff', 'on-call'], NAMES), 'act');
    for (const nothing of [undefined, null, [], '', 'Staff', 'staff ops', [['ops']], { ops: true }, true, 1])
      equal(deskRoleOf(nothing, NAMES), undefined, JSON.stringify(nothing));
    equal(deskRoleOf([''], { act: [], read: [] }), undefined);
  });

  it('stand in a claim, or inside one, that is the token’s own', () => {
    const claims = {
      roles: ['a'],
      'https://example.com/roles': 'b',
      realm_access: { 'x/y': { roles: 'c' } },
    };
    deepEqual(claimIn(claims, 'roles'), ['a']);
    equal(claimIn(claims, 'https://example.com/roles'), 'b');
    equal(claimIn(claims, '/realm_access/x~1y/roles'), 'c');
    for (const absent of ['constructor', '/roles/length', '/realm_access/none/roles', '/__proto__', ''])
      equal(claimIn(claims, absent), undefined, absent);
  });

  it('that may only read have no scope that writes, or shows a secret', () => {
    for (const scope of DESK_SCOPES.read) ok(scope === 'admin' || scope.endsWith(':read'), scope);
    ok(!DESK_SCOPES.read.includes('secrets:read'));
    ok(ACCOUNT_SCOPES.every((scope) => DESK_SCOPES.act.includes(scope)));
  });

  it('belong to subjects of printable ASCII, at most 255 characters', () => {
    for (const subject of ['auth0|5f7c', 'a'.repeat(255)]) ok(isSubject(subject), subject);
    for (const subject of ['', 'a'.repeat(256), 'a\nb', 'ä']) ok(!isSubject(subject), subject);
  });
});

describe('settings of the sign-in to the desk', () => {
  const complete = {
    HOOKLINE_OIDC_ISSUER: 'https://login.example.com/realms/staff',
    HOOKLINE_OIDC_CLIENT_ID: 'hookline',
    HOOKLINE_OIDC_ACCOUNT: 'acct_01M7ZSANED663X2NHSWD97XTMB',
    HOOKLINE_OIDC_READ_ROLES: 'staff',
  };

  it('are complete with an issuer over https, or on this machine', () => {
    equal(loadSettings(complete).HOOKLINE_OIDC_SESSION, 8 * 3_600_000);
    loadSettings({ ...complete, HOOKLINE_OIDC_ISSUER: 'http://127.0.0.1:9000' });
    for (const issuer of [
      'http://login.example.com',
      'ftp://login.example.com',
      'login',
      'https://a?b=c',
      'https://a@b',
    ])
      throws(
        () => loadSettings({ ...complete, HOOKLINE_OIDC_ISSUER: issuer }),
        /must be an https URL/,
        issuer,
      );
  });

  it('name what is missing', () => {
    const without = { HOOKLINE_OIDC_ISSUER: complete.HOOKLINE_OIDC_ISSUER, HOOKLINE_OIDC_SCOPES: 'profile' };
    throws(() => loadSettings(without), {
      lines: [
        'These settings cannot be used:',
        '  HOOKLINE_OIDC_CLIENT_ID: HOOKLINE_OIDC_ISSUER needs it',
        '  HOOKLINE_OIDC_ACCOUNT: HOOKLINE_OIDC_ISSUER needs it',
        '  HOOKLINE_OIDC_SCOPES: must have openid among them',
        '  HOOKLINE_OIDC_READ_ROLES, HOOKLINE_OIDC_ACT_ROLES: set one of them, or nobody can sign in',
      ],
    });
    for (const session of ['59s', '13h'])
      throws(() => loadSettings({ ...complete, HOOKLINE_OIDC_SESSION: session }), /must be from 1m to 12h/);
  });
});
