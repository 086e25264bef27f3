import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import type { Connection, Model } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { madeOnce } from '../../domain/basics/bounded-memory.js';
import type { EventName, EventPayloads } from '../../domain/delivery/stored-event.js';
import { keyNameOf } from '../../domain/privacy/data-key.js';
import type { PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import type { Timings } from '../../domain/timings.js';
import { type EventDocument, EventSeal, events } from './event-document.js';

/** Payloads that are remembered: characters of all together, and for how long. Attempts follow within a moment. */
const REMEMBERED = { maxSize: 8 * 1024 * 1024, ttl: 5_000 };
/** Names of data keys that are remembered: of more events than have attempts in flight in a process. */
const KEYS_REMEMBERED = 20_000;
/** Events in one query. */
const EVENTS_AT_ONCE = 120;

/** The payloads of stored events. Those that are asked for at once are read together. */
export class PayloadReader implements EventPayloads {
  private readonly model: Model<EventDocument>;
  private readonly sealer: PayloadSealer;
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

  constructor(
    connection: Connection,
    sealer: PayloadSealer,
    box: SecretBox | undefined,
    { keys_remembered_ms, data_key_lifetime_ms }: Timings,
  ) {
    this.openedTtlMs = (keys_remembered_ms - data_key_lifetime_ms) / 2;
    this.model = events(connection);
    this.sealer = sealer;
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
    const { sealed, commitment, key } = this.seal.check(stored);
    if (!sealed) return undefined;
    this.keys.set(nameOf({ account_id, event_id }), key);
    const context = { accountId: account_id, eventId: event_id };
    return this.sealer.openCommitted(context, { sealed, commitment });
  }
}

function nameOf({ account_id, event_id }: EventName): string {
  return `${account_id} ${event_id}`;
}
