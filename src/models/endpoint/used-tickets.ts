import { TICKET_MS } from '../../domain/listener/listener.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import { collection, must, repositoryOf } from '../mongo/collection.js';
import { wasMade } from '../mongo/duplicate-key.js';

const usedTickets = collection('used_tickets', {
  /** Id of the ticket. */
  _id: must(String),
  /** Remembered for longer than a ticket lasts, also by a clock that is somewhat off. */
  at: must(Date, { expires: (10 * TICKET_MS) / 1_000 }),
});

/** The tickets that have opened a stream, as all processes see them: a ticket opens one. */
export class UsedTicketRepository extends repositoryOf(usedTickets) {
  /** Uses a ticket up. @returns `false` if it was used before */
  use(ticketId: string): Promise<boolean> {
    return wasMade(this.model.create({ _id: ticketId, at: sharedDate() }));
  }
}
