import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Connection, Model } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import type { EventPayloads, StorableEvent } from '../../domain/delivery/stored-event.js';
import { keyNameOf, SealedTextError } from '../../domain/privacy/data-key.js';
import { RecordAlteredError } from '../../domain/records/record-altered.js';
import type { EventForRows } from '../../domain/records/told.js';
import { type EventDocument, EventSeal, events, tokensOf } from '../event/event-document.js';

/**
 * Events that are remembered, and for how long, milliseconds: those that this process has just stored, or read for the
 * rows of an event with many endpoints.
 */
const REMEMBERED = { max: 2_000, ttl: 5_000 };

/** Events as rows of their deliveries need them, without their payloads. */
export class EventsOfRows {
  private readonly model: Model<EventDocument>;
  private readonly payloads: Pick<EventPayloads, 'of'>;
  private readonly seal: EventSeal;
  private readonly remembered = new LRUCache<string, EventForRows>(REMEMBERED);

  constructor(connection: Connection, payloads: Pick<EventPayloads, 'of'>, box: SecretBox | undefined) {
    this.model = events(connection);
    this.payloads = payloads;
    this.seal = new EventSeal(box);
  }

  /** Remembers an event that was just stored: its first rows follow in a moment. */
  remember({ event, sealed, commitment, payload_bytes }: StorableEvent, payload: string): void {
    const { account_id, event_id, event_kind, keys = [], sequence } = event;
    this.remembered.set(event_id, {
      ...{ account_id, event_id, event_kind, payload_bytes, commitment, key: keyNameOf(sealed) },
      keys,
      ...(sequence !== undefined && { sequence }),
      payload_sha256: sha256Of(payload),
    });
  }

  /**
   * Some events, by id; those that are past their time are not among them. One that is not what was written is an error
   * in its place: a record says what its event says, and the log signs it.
   */
  async of(ids: readonly string[]): Promise<Map<string, EventForRows | Error>> {
    const found = new Map<string, EventForRows | Error>();
    for (const id of ids) {
      const known = this.remembered.get(id);
      if (known) found.set(id, known);
    }
    const others = ids.filter((id) => !found.has(id));
    if (others.length === 0) return found;
    const documents = await this.model.find({ _id: { $in: others } }, { sealed: 0 }).lean();
    // At once: payloads that are asked for at once are read together.
    await Promise.all(
      documents.map(async (document) => {
        const event = await this.toEvent(document).catch((error: unknown) => {
          if (error instanceof RecordAlteredError || error instanceof SealedTextError) return error;
          throw error;
        });
        if (!(event instanceof Error)) this.remembered.set(document._id, event);
        found.set(document._id, event);
      }),
    );
    return found;
  }

  /** @throws RecordAlteredError or SealedTextError if it is not what was written */
  private async toEvent(stored: EventDocument): Promise<EventForRows> {
    const document = this.seal.check(stored);
    const { _id: event_id, account_id, event_kind, sequence, key } = document;
    const { payload_bytes, commitment, payload_expires_at } = document;
    const isKept = Boolean(payload_expires_at);
    // Attempts of its deliveries have just asked for it, too.
    const payload = isKept ? await this.payloads.of({ account_id, event_id }) : undefined;
    const isErased = isKept && payload === undefined;
    return {
      ...{ account_id, event_id, event_kind, payload_bytes, commitment, key },
      keys: tokensOf(document),
      ...(typeof sequence === 'number' && { sequence }),
      ...(payload !== undefined && { payload_sha256: sha256Of(payload) }),
      ...(isErased && { payload_erased: true }),
    };
  }
}

function sha256Of(payload: string): string {
  return createHash('sha256').update(payload).digest('hex');
}
