import { z } from 'zod';
import { type EventKind, findEventKind } from '../../../domain/event/event-kinds.js';
import type { StoredEventKind } from '../../../models/event/event-kinds.js';
import { timeSchema as time } from '../../http/schemas.js';

const schemaVersion = { version: z.number().int(), schema: z.record(z.string(), z.unknown()) };

export const eventKindSchema = z
  .object({
    name: z.string(),
    description: z.string(),
    built_in: z.boolean(),
    overrides_built_in: z
      .boolean()
      .optional()
      .describe('true: the account added the kind before Hookline had one of that name, and keeps its own'),
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
    ...(findEventKind(name) && { overrides_built_in: true }),
    version: newest?.version,
    schema: newest?.schema,
    versions,
    created_at,
    updated_at,
  };
}

/** A kind that every account has, as it is shown. */
export function renderBuiltInKind({ name, description, version, schema }: EventKind) {
  return { name, description, built_in: true, version, schema, versions: [{ version, schema }] };
}
