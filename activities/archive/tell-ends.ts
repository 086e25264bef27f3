import { closedAt } from '../../src/domain/archive/archived.js';
import type { DeliveryToArchive } from '../../src/domain/archive/to-archive.js';
import { type End, endKindOf, noticePayload } from '../../src/domain/delivery/end-notice.js';
import { isOperational } from '../../src/domain/event/event-kinds.js';
import { emitTo } from '../endpoint/endpoint-incident.js';
import type { ActivityDependencies } from '../ports.js';

type Ports = Pick<ActivityDependencies, 'endpoints' | 'ledger' | 'ends'>;

/** Tells accounts that deliveries have ended without success: together what ends together, and nothing of operational events themselves. */
export class EndTeller {
  private readonly ports: Ports;

  constructor(ports: Ports) {
    this.ports = ports;
  }

  /** Before deliveries are archived, so that none that is archived stays unannounced. */
  async note(deliveries: readonly DeliveryToArchive[]): Promise<void> {
    const ends = await Promise.all(deliveries.map((delivery) => this.endOf(delivery)));
    await this.ports.ends.note(ends.filter((end) => end !== undefined));
  }

  private async endOf(delivery: DeliveryToArchive): Promise<End | undefined> {
    const { id, account_id, endpoint_id, event_id, event_kind, status, position, run_id } = delivery;
    const kind = endKindOf(status);
    if (!kind || isOperational(event_kind)) return undefined;
    if (!(await this.ports.endpoints.isWatched(account_id, kind))) return undefined;
    const closed_at = closedAt(position);
    return { account_id, endpoint_id, kind, delivery_id: id, event_id, event_kind, closed_at, run_id };
  }

  /** Sends an event for each endpoint whose deliveries have ended. Repeated after a crash, it sends the same ones. */
  async tell(): Promise<void> {
    const { ends } = this.ports;
    for (let notice = await ends.next(); notice; notice = await ends.next()) {
      const { account_id, kind, at, name } = notice;
      await emitTo(this.ports, { account_id, kind, at, transition: name, payload: noticePayload(notice) });
      await ends.told(notice);
    }
  }
}
