import { isObject } from '../basics/objects.js';
import { OPERATOR_SCOPES, type Scope } from './api-key.js';
import { TokenKind } from './checked-token.js';

export const DESK_TOKEN = new TokenKind('hlds_');

/** Roles of people who sign in to the desk, the greater one first. */
export const DESK_ROLES = ['act', 'read'] as const;

export type DeskRole = (typeof DESK_ROLES)[number];

/** Scopes of each role. A reader sees everything but secrets, and every request that changes something is refused. */
export const DESK_SCOPES: Record<DeskRole, readonly Scope[]> = {
  act: OPERATOR_SCOPES,
  read: [
    'deliveries:read',
    'endpoints:read',
    'profile:read',
    'profiles:read',
    'keys:read',
    'changes:read',
    'admin',
  ],
};

/** The access of a person to the desk, for some hours. */
export interface DeskSession {
  id: string;
  /** The operator's account. */
  account_id: string;
  /** The identity provider, and what it calls the person. */
  issuer: string;
  subject: string;
  /** The person's name, as the provider has it. */
  name: string;
  role: DeskRole;
  created_at: string;
  expires_at: string;
  revoked_at?: string;
}

/** Form of a subject (OpenID Connect Core 1.0, section 2). */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/** Whether a text can be the subject of an ID token. */
export const isSubject = (text: string): boolean => SUBJECT.test(text);

/**
 * The value of a claim. @param name its name, or a JSON Pointer (RFC 6901) to a value inside another claim, such as
 * `/realm_access/roles`
 */
export function claimIn(claims: object, name: string): unknown {
  if (!name.startsWith('/')) return member(claims, name);
  const path = name.slice(1).split('/');
  return path.reduce(
    (value: unknown, part) => member(value, part.replaceAll('~1', '/').replaceAll('~0', '~')),
    claims,
  );
}

function member(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/**
 * The greatest role that a claim gives.
 *
 * @param value a text, or a list of them
 * @param names values that give each role
 */
export function deskRoleOf(value: unknown, names: Record<DeskRole, readonly string[]>): DeskRole | undefined {
  const held = new Set([value].flat());
  return DESK_ROLES.find((role) => names[role].some((name) => held.has(name)));
}
