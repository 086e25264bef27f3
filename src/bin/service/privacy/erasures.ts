import type { SubjectErasures } from '../../../../activities/ports.js';
import type { DeliveryControl } from '../../../temporal/write/delivery-control.js';
import { SubjectDeliveries } from '../../../temporal/write/privacy/subject-deliveries.js';
import type { Servers } from '../servers.js';

/** What erasures do, for their activities. */
export function createErasures(
  { database: { dataKeys, erasures }, temporal: { client } }: Servers,
  control: DeliveryControl,
): SubjectErasures {
  const deliveries = new SubjectDeliveries(client, control);
  return {
    begin: async (plan) => erasures.begin(plan, await deliveries.scope(plan)),
    countOpen: (plan) => deliveries.countOpen(plan),
    async eraseKey(plan) {
      await dataKeys.erase(plan.account_id, plan.key_id);
      await erasures.erased(plan);
    },
    cancelOpen: (plan, onProgress) => deliveries.cancelOpen(plan, onProgress),
    complete: (plan, cancelled) => erasures.complete(plan, cancelled),
  };
}
