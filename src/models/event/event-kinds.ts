import type { Connection } from 'mongoose';
import type { Origin } from '../../domain/change/change.js';
import type { EventKind } from '../../domain/event/event-kinds.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import type { Timings } from '../../domain/timings.js';
import { recordedFields } from '../change/change-document.js';
import type { ChangeRepository } from '../change/changes.js';
import { Recorded } from '../change/recorded.js';
import { collection, type DocumentIn, must } from '../mongo/collection.js';
import { wasMade } from '../mongo/duplicate-key.js';
import { ShortCache } from '../mongo/short-cache.js';

/** A kind that an account has added, with all versions of its schema, oldest first. */
export interface StoredEventKind {
  name: string;
  description: string;
  versions: (Pick<EventKind, 'version' | 'schema'> & { created_at: string })[];
  created_at: string;
  updated_at: string;
}

const eventKinds = collection('event_kinds', {
  /** Account and name: the hot look-up is one by `_id`. */
  _id: must(String),
  account_id: must(String, { index: true }),
  name: must(String),
  description: must(String, { required: false, default: '' }),
  /** Schemas as JSON texts: their keywords begin with `$`. */
  versions: must<{ version: number; schema: string; created_at: Date }[]>([
    { _id: false, version: Number, schema: String, created_at: Date },
  ]),
  created_at: must(Date),
  updated_at: must(Date),
  ...recordedFields,
});
type EventKindDocument = DocumentIn<typeof eventKinds>;

/** The event kinds that accounts have added to the built-in ones. */
export class EventKindRepository {
  private readonly documents: Recorded<EventKindDocument>;
  private readonly byName: ShortCache<StoredEventKind | undefined>;
  private readonly byAccount: ShortCache<StoredEventKind[]>;

  constructor(connection: Connection, changes: ChangeRepository, { resource_lifetime_ms }: Timings) {
    this.byName = new ShortCache(resource_lifetime_ms);
    this.byAccount = new ShortCache(resource_lifetime_ms);
    this.documents = new Recorded(eventKinds(connection), changes, {
      kind: 'event_kind',
      idField: 'name',
      show: (document) => showNewest(toEventKind(document)),
    });
  }

  /** @returns `undefined` where the account has a kind of that name already */
  async create(
    accountId: string,
    name: string,
    description: string,
    firstSchema: Record<string, unknown>,
    origin: Origin,
  ): Promise<StoredEventKind | undefined> {
    const now = sharedDate();
    const document = {
      _id: keyOf(accountId, name),
      account_id: accountId,
      name,
      description,
      versions: [{ version: 1, schema: JSON.stringify(firstSchema), created_at: now }],
      created_at: now,
      updated_at: now,
    };
    const making = this.documents.create(document, origin).finally(() => this.forget(accountId, name));
    return (await wasMade(making)) ? toEventKind(await making) : undefined;
  }

  /** @returns `undefined` where the account has none of that name */
  get(accountId: string, name: string): Promise<StoredEventKind | undefined> {
    return this.byName.get(keyOf(accountId, name), async () => {
      const document = await this.documents.findOne({ _id: keyOf(accountId, name) });
      return document ? toEventKind(document) : undefined;
    });
  }

  /** How many kinds an account has added, as the database has them. */
  count(accountId: string): Promise<number> {
    return this.documents.count({ account_id: accountId });
  }

  /** The newest schemas of kinds of all accounts, at most a number of them: for the operator's search. */
  async newestSchemas(limit: number): Promise<Record<string, unknown>[]> {
    const documents = await this.documents.find({}).sort({ _id: 1 }).limit(limit).lean();
    return documents.flatMap((document) => {
      const newest = toEventKind(document).versions.at(-1);
      return newest ? [newest.schema] : [];
    });
  }

  /** All kinds that an account has added, by name. */
  all(accountId: string): Promise<StoredEventKind[]> {
    return this.byAccount.get(accountId, async () => {
      const documents = await this.documents.find({ account_id: accountId }).sort({ _id: 1 }).lean();
      return documents.map(toEventKind);
    });
  }

  /**
   * Changes a kind: another schema becomes its next version.
   *
   * @returns `undefined` where there is none, or somebody else has changed it since `before` was read
   */
  async change(
    accountId: string,
    before: StoredEventKind,
    description: string,
    next: Record<string, unknown>,
    origin: Origin,
  ): Promise<StoredEventKind | undefined> {
    const text = JSON.stringify(next);
    const ofKind = { _id: keyOf(accountId, before.name) };
    const changed = await this.documents.change(ofKind, origin, ({ updated_at, versions }, now) => {
      if (updated_at.toISOString() !== before.updated_at) return undefined;
      const last = versions.at(-1);
      const added = { version: (last?.version ?? 0) + 1, schema: text, created_at: now };
      return {
        action: 'updated',
        set: {
          description,
          updated_at: now,
          ...(last?.schema !== text && { versions: [...versions, added] }),
        },
      };
    });
    this.forget(accountId, before.name);
    return changed && toEventKind(changed);
  }

  /** @returns whether there was one to remove */
  async delete(accountId: string, name: string, origin: Origin): Promise<boolean> {
    const isDeleted = await this.documents.delete({ _id: keyOf(accountId, name) }, origin);
    this.forget(accountId, name);
    return isDeleted;
  }

  private forget(accountId: string, name: string): void {
    this.byName.forget(keyOf(accountId, name));
    this.byAccount.forget(accountId);
  }
}

function keyOf(accountId: string, name: string): string {
  return `${accountId}:${name}`;
}

/** In changes, a kind has its newest schema alone: earlier ones are in earlier changes. */
function showNewest({ versions, ...kind }: StoredEventKind) {
  const newest = versions.at(-1);
  return { ...kind, schema_version: newest?.version, schema: newest?.schema };
}

function toEventKind(document: EventKindDocument): StoredEventKind {
  return {
    name: document.name,
    description: document.description,
    versions: document.versions.map(({ version, schema: text, created_at }) => ({
      version,
      schema: JSON.parse(text) as Record<string, unknown>,
      created_at: created_at.toISOString(),
    })),
    created_at: document.created_at.toISOString(),
    updated_at: document.updated_at.toISOString(),
  };
}
