import type { DeliveryRow } from '../delivery-view.js';
import { membersOf } from '../group/group-memo.js';
import type { Execution } from '../visibility/visibility.js';

/** Tells of each delivery that an execution stands for which account's it is: a group can have several. For the operator alone. */
export function accountsIn(execution: Execution): (row: DeliveryRow) => string {
  const members = membersOf(execution);
  return ({ index }) => members[index]?.account_id ?? '';
}
