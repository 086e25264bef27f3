import { randomUUID } from 'node:crypto';
import { queuesByKey } from '../../domain/basics/bounded-queue.js';
import { UNITS } from '../../domain/basics/duration.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { collection, must, repositoryOf } from '../mongo/collection.js';
import { wasMade } from '../mongo/duplicate-key.js';

/** A lease, and when it ends by itself, milliseconds since the epoch. */
interface HeldLease {
  holder: string;
  until: number;
}

const leases = collection('attempt_leases', {
  /** The endpoint. */
  _id: must(String),
  held: must<HeldLease[]>([{ _id: false, holder: must(String), until: must(Number) }]),
  /** One more with each write: only who has read the latest writes the next. */
  revision: must(Number),
  expires_at: must(Date, { expires: 0 }),
});

/** Endpoints without leases for so long are forgotten, milliseconds. */
const REMEMBERED_MS = UNITS.h;

/** Leases for attempts at endpoints that allow few at once, given out for all processes together. */
export class AttemptLeaseRepository extends repositoryOf(leases) {
  /** One process changes the leases of an endpoint one at a time. Queues of so many endpoints are remembered. */
  private readonly queueOf = queuesByKey(1, 10_000);

  /** @see AttemptLeases.take */
  async take(endpointId: string, most: number, ms: number) {
    const holder = randomUUID();
    const isTaken = await this.change(endpointId, (held) =>
      held.length < most ? [...held, { holder, until: sharedNow() + ms }] : undefined,
    );
    return isTaken ? { release: () => this.giveBack(endpointId, holder) } : undefined;
  }

  /** A lease that cannot be given back ends by itself. */
  private async giveBack(endpointId: string, holder: string): Promise<void> {
    const others = (held: HeldLease[]) => held.filter((one) => one.holder !== holder);
    await this.change(endpointId, others).catch(() => undefined);
  }

  /** @param next the leases to be held; `undefined` to leave them @returns whether they were changed */
  private change(_id: string, next: (held: HeldLease[]) => HeldLease[] | undefined): Promise<boolean> {
    return this.queueOf(_id)(async () => {
      for (;;) {
        const found = await this.model.findById(_id).lean();
        const now = sharedNow();
        const held = next((found?.held ?? []).filter(({ until }) => until > now));
        if (!held) return false;
        const { revision = 0 } = found ?? {};
        const set = { held, revision: revision + 1, expires_at: new Date(now + REMEMBERED_MS) };
        if (!found && (await wasMade(this.model.create({ _id, ...set })))) return true;
        const { modifiedCount } = await this.model.updateOne({ _id, revision }, { $set: set });
        if (modifiedCount === 1) return true;
      }
    });
  }
}
