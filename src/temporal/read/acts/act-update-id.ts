/**
 * The id of the update that does an act to a delivery: done once, and found again under it.
 *
 * @param name of the act: the id of its change, or of the replay that does it to many deliveries, also of one group
 */
export function actUpdateId(name: string, deliveryId: string): string {
  return `${name} ${deliveryId}`;
}
