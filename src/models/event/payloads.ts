import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import type { Connection, Model } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { madeOnce } from '../../domain/basics/bounded-memory.js';
import { UNITS } from '../../domain/basics/duration.js';
import type { EventName, EventPayloads } from '../../domain/delivery/stored-event.js';
import { keyIdOf, keyNameOf, SealedTextError } from '../../domain/privacy/data-key.js';
import type { PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import type { KeptDays } from '../../domain/records/kept-days.js';
import { RecordAlteredError } from '../../domain/records/record-altered.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import type { Timings } from '../../domain/timings.js';
import type { DataKeyRepository } from '../privacy/data-keys.js';
import { type EventDocument, EventSeal, events } from './event-document.js';

/** Payloads that are remembered: characters of all together, and for how long. Attempts follow within a moment. */
const REMEMBERED = { maxSize: 8 * 1024 * 1024, ttl: 5_000 };
/** Names of data keys that are remembered: of more events than have attempts in flight in a process. */
const KEYS_REMEMBERED = 20_000;

/** How an event differs whose payload, or whose key, was taken away by somebody. */
export const PAYLOAD_TAKEN = 'has no payload any more, which was neither erased nor past its time';
export const KEY_TAKEN = 'was sealed with a data key that is gone, and was not erased';

/** Tells whether a data key that is not there was erased. */
type ErasedKeys = Pick<DataKeyRepository, 'wasErased'>;

/** Events in one query. */
const EVENTS_AT_ONCE = 120;

/** The payloads of stored events. Those that are asked for at once are read together. */
export class PayloadReader implements EventPayloads {
  private readonly model: Model<EventDocument>;
  private readonly sealer: PayloadSealer;
  private readonly dataKeys: ErasedKeys;
  private readonly kept: KeptDays;
  private readonly seal: EventSeal;
  private readonly remembered = new LRUCache<string, string>({
    ...REMEMBERED,
    sizeCalculation: (payload) => payload.length + 100,
  });
  private readonly keys = new LRUCache<string, string>({ max: KEYS_REMEMBERED });
  /** Payloads that are being opened: once for all who ask. */
  private readonly opening = new Map<string, Promise<string | undefined>>();
  private readonly documents = new DataLoader<string, EventDocument | undefined>(
    async (ids) => {
      const found = await this.model.find({ _id: { $in: [...ids] } }).lean();
      const byId = new Map(found.map((document) => [document._id, document]));
      return ids.map((id) => byId.get(id));
    },
    { cache: false, maxBatchSize: EVENTS_AT_ONCE },
  );

  /**
   * How long a payload is remembered that was opened, milliseconds: its other deliveries and its rows need it now. With
   * the time for which a process remembers a data key it is less than an erasure waits.
   */
  private readonly openedTtlMs: number;

  /** @param kept how long payloads are kept */
  constructor(
    connection: Connection,
    { sealer, keys, kept }: { sealer: PayloadSealer; keys: ErasedKeys; kept: KeptDays },
    box: SecretBox | undefined,
    { keys_remembered_ms, data_key_lifetime_ms }: Timings,
  ) {
    this.openedTtlMs = (keys_remembered_ms - data_key_lifetime_ms) / 2;
    this.model = events(connection);
    this.sealer = sealer;
    this.dataKeys = keys;
    this.kept = kept;
    this.seal = new EventSeal(box);
  }

  remember(event: EventName, payload: string, sealed: string): void {
    this.remembered.set(nameOf(event), payload);
    this.keys.set(nameOf(event), keyNameOf(sealed));
  }

  keyOf(event: EventName): string | undefined {
    return this.keys.get(nameOf(event));
  }

  async of(event: EventName): Promise<string | undefined> {
    const name = nameOf(event);
    return this.remembered.get(name) ?? madeOnce(this.opening, name, () => this.openOnce(name, event));
  }

  private async openOnce(name: string, event: EventName): Promise<string | undefined> {
    try {
      const payload = await this.open(event);
      if (payload !== undefined) this.remembered.set(name, payload, { ttl: this.openedTtlMs });
      return payload;
    } finally {
      this.opening.delete(name);
    }
  }

  private async open({ account_id, event_id }: EventName): Promise<string | undefined> {
    const stored = await this.documents.load(event_id);
    if (stored?.account_id !== account_id) return undefined;
    const document = this.seal.check(stored);
    const { sealed, commitment, key } = document;
    const altered = (how: string, cause?: unknown) => new RecordAlteredError(event_id, how, { cause });
    if (!sealed) {
      if (this.isKept(document)) throw altered(PAYLOAD_TAKEN);
      return undefined;
    }
    this.keys.set(nameOf({ account_id, event_id }), key);
    try {
      const context = { accountId: account_id, eventId: event_id };
      const payload = await this.sealer.openCommitted(context, { sealed, commitment });
      if (payload === undefined && !(await this.dataKeys.wasErased(account_id, keyIdOf(sealed))))
        throw altered(KEY_TAKEN);
      return payload;
    } catch (error) {
      if (!(error instanceof SealedTextError)) throw error;
      throw altered(`does not have the payload that was written: ${error.message}`, error);
    }
  }

  /** Whether Hookline itself would have kept the payload until now. */
  private isKept({ account_id, event_kind, accepted_at, payload_expires_at }: EventDocument): boolean {
    if (payload_expires_at) return true;
    return sharedNow() < accepted_at.getTime() + this.kept.days(account_id, event_kind) * UNITS.d;
  }
}

function nameOf({ account_id, event_id }: EventName): string {
  return `${account_id} ${event_id}`;
}
