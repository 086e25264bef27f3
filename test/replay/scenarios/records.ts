import { startRecords } from '../../support/parts/records.js';
import { closed, type Scenarios, start } from './stage.js';

/** Every way through the workflow that keeps records. */
export const RECORDS: Scenarios = {
  'keep-records': {
    async play(stage) {
      await closed(stage, await start(stage));
      const run = await startRecords(stage.system);
      await run.result();
      return { workflowId: run.workflowId };
    },
  },
};
