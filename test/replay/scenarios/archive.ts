import { startRecords } from '../../support/parts/records.js';
import { closed, type Scenarios, start } from './stage.js';

/** Every way through the workflow that archives. */
export const ARCHIVE: Scenarios = {
  'archive-deliveries': {
    async play(stage) {
      await closed(stage, await start(stage));
      const run = await startRecords(stage.system);
      await run.result();
      return { workflowId: run.workflowId };
    },
  },
};
