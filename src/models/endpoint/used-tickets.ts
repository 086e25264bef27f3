import { type Connection, type Model, Schema } from 'mongoose';
import { TICKET_MS } from '../../domain/listener/listener.js';
import { isDuplicateKey } from '../mongo/duplicate-key.js';

interface UsedTicketDocument {
  /** Of the ticket. */
  _id: string;
  at: Date;
}

/** Longer than a ticket lasts, also by a clock that is somewhat off, seconds. */
const REMEMBERED_S = (10 * TICKET_MS) / 1_000;

const schema = new Schema<UsedTicketDocument>(
  { _id: String, at: { type: Date, required: true, expires: REMEMBERED_S } },
  { versionKey: false },
);

/** The tickets that have opened a stream, as all processes see them: a ticket opens one. */
export class UsedTicketRepository {
  private readonly model: Model<UsedTicketDocument>;

  constructor(connection: Connection) {
    this.model = connection.model<UsedTicketDocument>('used_ticket', schema, 'used_tickets');
  }

  /** Uses a ticket up. @returns `false` if it was used before */
  async use(ticketId: string): Promise<boolean> {
    try {
      await this.model.create({ _id: ticketId, at: new Date() });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }
}
