import { ACCOUNTS } from './scenarios/accounts.js';
import { ALERTS } from './scenarios/alerts.js';
import { DELIVERIES } from './scenarios/deliveries.js';
import { ENDPOINTS } from './scenarios/endpoints.js';
import { ERASURES } from './scenarios/erasures.js';
import { GROUPS } from './scenarios/groups.js';
import { INCIDENTS } from './scenarios/incidents.js';
import { LIVE_GROUPS } from './scenarios/live-groups.js';
import { OUTCOMES } from './scenarios/outcomes.js';
import { RECORDS } from './scenarios/records.js';
import { REPLAYS } from './scenarios/replays.js';
import { SCHEDULED } from './scenarios/scheduled.js';
import type { Scenarios } from './scenarios/stage.js';

/** Every way through the workflows whose history is kept, by the name of its file. */
export const SCENARIOS: Scenarios = {
  ...ACCOUNTS,
  ...DELIVERIES,
  ...GROUPS,
  ...LIVE_GROUPS,
  ...ENDPOINTS,
  ...INCIDENTS,
  ...REPLAYS,
  ...RECORDS,
  ...ALERTS,
  ...ERASURES,
  ...SCHEDULED,
  ...OUTCOMES,
};
