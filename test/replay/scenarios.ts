import { DELIVERIES } from './scenarios/deliveries.js';
import { ENDPOINTS } from './scenarios/endpoints.js';
import { GROUPS } from './scenarios/groups.js';
import { LIVE_GROUPS } from './scenarios/live-groups.js';
import { REPLAYS } from './scenarios/replays.js';
import type { Scenarios } from './scenarios/stage.js';

/** Every way through the workflows whose history is kept, by the name of its file. */
export const SCENARIOS: Scenarios = { ...DELIVERIES, ...GROUPS, ...LIVE_GROUPS, ...ENDPOINTS, ...REPLAYS };
