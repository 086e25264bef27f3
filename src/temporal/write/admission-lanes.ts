import { Admission, type PendingDelivery, type Reservation, type Starts } from './admission.js';
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
   * @param lingerMs how long a start in the direct lane waits for more deliveries at most, milliseconds: nobody waits
   * for it where first attempts have begun
   */
  constructor(slots: StartSlots, isolatedSlots: StartSlots, starts: Starts, lingerMs: number) {
    this.direct = new Admission(slots, starts, lingerMs);
    // How long a start slot waits at most for more deliveries to endpoints that are slow or failing, milliseconds.
    this.isolated = new Admission(isolatedSlots, starts, 100);
  }

  /** Makes room for deliveries of one event, each in its lane. */
  reserve(
    deliveries: readonly PendingDelivery[],
  ): (Reservation & { deliveries: readonly PendingDelivery[] })[] {
    const isolated = deliveries.filter(({ placement }) => placement.isolated);
    const direct = deliveries.filter(({ placement }) => !placement.isolated);
    return [
      ...(direct.length > 0 ? [{ deliveries: direct, ...this.direct.reserve(direct) }] : []),
      ...(isolated.length > 0 ? [{ deliveries: isolated, ...this.isolated.reserve(isolated) }] : []),
    ];
  }
}
