import { Admission, type PendingDelivery, type Starts } from './admission.js';
import type { StartSlots } from './start-slots.js';

/**
 * Admission in two lanes, each with start slots of its own: deliveries to healthy endpoints never wait for the start of
 * a group whose endpoints are failing, nor for the pause after it.
 */
export class AdmissionLanes {
  private readonly direct: Admission;
  private readonly isolated: Admission;

  /**
   * @param slots of the direct lane
   * @param isolatedSlots of the isolated lane
   */
  constructor(slots: StartSlots, isolatedSlots: StartSlots, starts: Starts) {
    this.direct = new Admission(slots, starts);
    // How long a start slot waits at most for more deliveries to endpoints that are slow or failing, milliseconds.
    this.isolated = new Admission(isolatedSlots, starts, 100);
  }

  /** How many deliveries wait, in both lanes. */
  get waiting(): number {
    return this.direct.waiting + this.isolated.waiting;
  }

  /**
   * Starts deliveries of one event, each in its lane. Resolves once every one of them is persisted.
   *
   * @throws LedgerBusyError if too many are waiting in a lane; then none is started
   */
  async submit(deliveries: readonly PendingDelivery[]): Promise<void> {
    const isolated = deliveries.filter(({ placement }) => placement.isolated);
    const direct = deliveries.filter(({ placement }) => !placement.isolated);
    this.direct.checkRoom(direct.length);
    this.isolated.checkRoom(isolated.length);
    // The producer of an event that healthy endpoints get, too, does not wait because of the others.
    const isUrgent = direct.length > 0;
    await Promise.all([this.direct.submit(direct), this.isolated.submit(isolated, isUrgent)]);
  }
}
