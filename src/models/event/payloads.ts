import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import type { Connection, Model } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import type { NamedEvent } from '../../domain/delivery/delivery.js';
import type { EventPayloads } from '../../domain/delivery/event-payloads.js';
import type { PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import { RecordAlteredError } from '../../domain/records/record-altered.js';
import { type EventDocument, EventSeal, events } from './event-document.js';

/** Payloads that are remembered: characters of all together, and for how long. Attempts follow within a moment. */
const REMEMBERED = { maxSize: 8 * 1024 * 1024, ttl: 5_000 };
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
  private readonly documents = new DataLoader<string, EventDocument | undefined>(
    async (ids) => {
      const found = await this.model.find({ _id: { $in: [...ids] } }).lean();
      const byId = new Map(found.map((document) => [document._id, document]));
      return ids.map((id) => byId.get(id));
    },
    { cache: false, maxBatchSize: EVENTS_AT_ONCE },
  );

  constructor(connection: Connection, sealer: PayloadSealer, box: SecretBox | undefined) {
    this.model = events(connection);
    this.sealer = sealer;
    this.seal = new EventSeal(box);
  }

  remember({ account_id, event_id }: Pick<NamedEvent, 'account_id' | 'event_id'>, payload: string): void {
    this.remembered.set(`${account_id} ${event_id}`, payload);
  }

  async of({
    account_id,
    event_id,
  }: Pick<NamedEvent, 'account_id' | 'event_id'>): Promise<string | undefined> {
    const remembered = this.remembered.get(`${account_id} ${event_id}`);
    if (remembered !== undefined) return remembered;
    const document = await this.documents.load(event_id);
    if (document?.account_id !== account_id) return undefined;
    const wrong = this.seal.whatIsWrong(document);
    if (wrong !== undefined) throw new RecordAlteredError(event_id, wrong);
    const { sealed } = document;
    if (typeof sealed !== 'string') return undefined;
    return this.sealer.open({ accountId: account_id, eventId: event_id }, sealed);
  }
}
