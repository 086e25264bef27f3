import { z } from 'zod';
import type { EVENT_KINDS } from '../../../domain/event/event-kinds.js';
import type { StoredEventKind } from '../../../models/event/event-kinds.js';
import { timeSchema as time } from '../../http/schemas.js';

const schemaVersion = { version: z.number().int(), schema: z.record(z.string(), z.unknown()) };

export const eventKindSchema = z
  .object({
    name: z.string(),
    description: z.string(),
    built_in: z.boolean(),
    ...schemaVersion,
    versions: z.array(z.object({ ...schemaVersion, created_at: time.optional() })),
    created_at: time.optional(),
    updated_at: time.optional(),
  })
  .meta({ id: 'EventKind' });

/** A kind that an account has added, as it is shown. */
export function renderOwnKind({ name, description, versions, created_at, updated_at }: StoredEventKind) {
  const newest = versions.at(-1);
  return {
    name,
    description,
    built_in: false,
    version: newest?.version,
    schema: newest?.schema,
    versions: versions.map(({ schema_key: _, ...version }) => version),
    created_at,
    updated_at,
  };
}

/** A kind that every account has, as it is shown. */
export function renderBuiltInKind({ name, description, version, schema }: (typeof EVENT_KINDS)[number]) {
  return { name, description, built_in: true, version, schema, versions: [{ version, schema }] };
}
