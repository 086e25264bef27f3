import {
  ORDER_KEYWORD,
  SUBJECT_KEYWORD,
} from '../../../packages/payload-contract/src/schema/schema-keywords.js';
import type { Change } from '../change/change.js';

/** Name of the kind of event that tells of a change of a profile. */
export const PROFILE_UPDATED = 'profile.updated';

/** Payload of such an event. */
interface ProfileUpdate {
  profile_id: string;
  updated_at: string;
  /** Names of the fields. */
  changed_fields: string[];
  /** Values by the names of the fields. */
  changes: Record<string, { old: unknown; new: unknown }>;
}

/** The kind of event that tells of a change of a profile. */
export const PROFILE_UPDATED_KIND = {
  name: PROFILE_UPDATED,
  description: 'A profile has changed.',
  version: 1,
  emitted: true as const,
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    required: ['profile_id', 'updated_at', 'changed_fields'],
    properties: {
      profile_id: { type: 'string', [SUBJECT_KEYWORD]: true, [ORDER_KEYWORD]: true },
      updated_at: { type: 'string', format: 'utc-date-time', description: 'ISO 8601, UTC.' },
      changed_fields: { type: 'array', items: { type: 'string' } },
      changes: {
        type: 'object',
        description: 'Sent to endpoints with include_values: values by the names of the changed fields.',
        additionalProperties: {
          type: 'object',
          required: ['old', 'new'],
          properties: { old: {}, new: {} },
        },
      },
    },
    examples: [
      {
        profile_id: 'prof_01M7Y6GW4KS6J1CRXD65YC46K4',
        updated_at: '2026-11-21T12:00:00.000Z',
        changed_fields: ['followers_count'],
        changes: { followers_count: { old: 1815, new: 1816 } },
      },
    ],
  },
};

/** Payload that tells of a change of a profile; `undefined` if there is nothing to tell. */
export function profileUpdate({ action, at, changed, before, after }: Change): ProfileUpdate | undefined {
  if (action !== 'updated' || changed.length === 0 || !before || !after) return undefined;
  const changed_fields = changed.map((pointer) => pointer.slice(1));
  return {
    profile_id: String(after['id']),
    updated_at: at,
    changed_fields,
    changes: Object.fromEntries(
      changed_fields.map((name) => [name, { old: before[name] ?? null, new: after[name] ?? null }]),
    ),
  };
}

/** A payload as an endpoint gets it: values of profiles only if its owner asks for them. */
export function payloadFor(
  { include_values }: { include_values?: boolean },
  kind: string,
  payload: string,
): string {
  if (include_values || kind !== PROFILE_UPDATED) return payload;
  const { changes: _, ...rest } = JSON.parse(payload) as ProfileUpdate;
  return JSON.stringify(rest);
}
