import { idTime } from '../../../domain/basics/id-time.js';
import type { EventStore, Starters } from '../../../domain/delivery/stored-event.js';
import type { DeliveryStarter } from '../delivery-starter.js';

/**
 * Starts what dead processes have accepted and not started. Each process says that it is there, and from which time on
 * its events may not have been started; so nothing is written for an event that is started. Several processes may do
 * the same at once: the ids of executions are in the events, and Temporal starts nothing twice under one. A process
 * that only stood still finds its deliveries started.
 */
export class StarterWatch {
  private readonly starter: Pick<
    DeliveryStarter,
    'id' | 'intake' | 'feedOrder' | 'startStored' | 'settleDoubts'
  >;
  private readonly starters: Starters;
  private readonly store: Pick<EventStore, 'ofStarter'>;
  private readonly deadAfterMs: number;
  private readonly now: () => number;
  /** When each of the others was last seen to have gone on. */
  private readonly seen = new Map<string, { beats: number; at: number }>();

  /**
   * @param deadAfterMs of {@link Timings}, by the clock of who watches: those of two machines differ
   * @param now milliseconds on a clock that only goes forward
   */
  constructor(
    starter: Pick<DeliveryStarter, 'id' | 'intake' | 'feedOrder' | 'startStored' | 'settleDoubts'>,
    { starters, store }: { starters: Starters; store: Pick<EventStore, 'ofStarter'> },
    deadAfterMs: number,
    now: () => number = () => performance.now(),
  ) {
    this.starter = starter;
    this.starters = starters;
    this.store = store;
    this.deadAfterMs = deadAfterMs;
    this.now = now;
  }

  /**
   * Starts what this process does not know to be stored, and what a dead one has left. That lasts as long as Temporal
   * is away, so nothing waits for it: above all, heartbeats do not.
   */
  async look(): Promise<void> {
    const { starter, starters } = this;
    await starter.settleDoubts();
    const others = (await starters.all()).filter(({ id }) => id !== starter.id);
    for (const id of this.seen.keys()) if (!others.some((other) => other.id === id)) this.seen.delete(id);
    for (const { id, beats, since, settled, isEarly } of others) {
      const seen = this.seen.get(id);
      if (seen?.beats !== beats) this.seen.set(id, { beats, at: this.now() });
      else if (this.now() - seen.at >= this.deadAfterMs) {
        for await (const some of this.store.ofStarter(id, since)) {
          // First attempts of several would take places in any order.
          await starter.intake.placed(some.map(({ event, targets }) => ({ ...event, targets })));
          for (const stored of some) {
            // It may not have got its place in the feed.
            if (idTime(stored.event.event_id) < settled) await starter.feedOrder.stored(stored.event);
            await starter.startStored(stored, isEarly ? { by: id, is_lost: true } : undefined);
          }
        }
        await starters.forget({ id, beats });
        // Meanwhile, the others may have gone on for long.
        return;
      }
    }
  }

  /** This process has stopped. Another process starts what it has not started. @param isDone whether nothing is left */
  async stop(isDone: boolean): Promise<void> {
    if (isDone) await this.starters.forget({ id: this.starter.id });
  }
}
