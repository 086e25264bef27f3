import { erasureWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { startGroup } from '../../support/parts/start-group.js';
import { inTurn, reply } from '../../support/receiver.js';
import { execution, REASON, type Run, type Scenarios, type Stage, start } from './stage.js';

/** The person in `PURCHASE`. */
const SUBJECT = 'ada@example.com';

async function erase({ client }: Stage, open: 'cancel' | 'finish'): Promise<string> {
  const body = { subject: SUBJECT, open, reason: REASON };
  const { status, json, text } = await client.request('POST', '/v18.0/subjects/erase', { body });
  if (status !== 200 && status !== 202) throw new Error(text);
  return json.id;
}

function erasure(stage: Stage, id: string): Promise<Run> {
  return execution(stage, erasureWorkflowId(stage.client.accountId, id));
}

/** Every way through `eraseSubject`, and of deliveries whose payload is erased. */
export const ERASURES: Scenarios = {
  'erase-subject-when-finished': {
    settings: { HOOKLINE_RETRY_SCHEDULE: '3s' },
    async play(stage) {
      stage.receiver.handle(inTurn(reply(500), reply(200)));
      await start(stage);
      return erasure(stage, await erase(stage, 'finish'));
    },
  },
  'deliver-many-erased': {
    settings: { HOOKLINE_RETRY_SCHEDULE: '15s' },
    async play(stage) {
      const { system, client, receiver } = stage;
      receiver.handle(reply(500));
      const { id: endpointId } = await client.register(receiver.url);
      const subject = await system.database.keySecrets.subjectToken(client.accountId, SUBJECT);
      const times = [Date.now(), Date.now()];
      const { groupId, events } = await startGroup(
        system,
        client,
        endpointId,
        times,
        undefined,
        undefined,
        subject,
      );
      await receiver.waitFor((all) => all.length === events.length);
      await eraseKey(stage);
      return execution(stage, `group:${groupId}`);
    },
  },
};

/**
 * Deletes the key in the database alone, as another process would: whoever remembers it finds that out at an attempt.
 */
async function eraseKey({ system: { database }, client: { accountId } }: Stage): Promise<void> {
  const token = await database.keySecrets.subjectToken(accountId, SUBJECT);
  const key = await database.dataKeys.ofSubject(accountId, token);
  if (!key) throw new Error('no key');
  await database.dataKeys.erase(accountId, key.key_id);
}
