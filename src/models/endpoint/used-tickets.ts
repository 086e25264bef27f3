import { TICKET_MS } from '../../domain/listener/listener.js';
import { collection, must, repositoryOf } from '../mongo/collection.js';
import { wasMade } from '../mongo/duplicate-key.js';

/** Longer than a ticket lasts, also by a clock that is somewhat off, seconds. */
const REMEMBERED_S = (10 * TICKET_MS) / 1_000;

const usedTickets = collection('used_tickets', {
  /** Of the ticket. */
  _id: must(String),
  at: must(Date, { expires: REMEMBERED_S }),
});

/** The tickets that have opened a stream, as all processes see them: a ticket opens one. */
export class UsedTicketRepository extends repositoryOf(usedTickets) {
  /** Uses a ticket up. @returns `false` if it was used before */
  use(ticketId: string): Promise<boolean> {
    return wasMade(this.model.create({ _id: ticketId, at: new Date() }));
  }
}
