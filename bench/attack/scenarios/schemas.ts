import { PLATFORM_SCOPES } from '../../../src/domain/access/api-key.js';
import { type Attack, insist } from '../attack.js';

const ACCOUNTS = 8;
/** The costliest schema first: the first that is taken is used. */
const WIDTHS = [149, 100, 50, 20];
const PAYLOAD_BYTES = 260_000;

const schemaOf = (width: number) => ({
  items: { allOf: Array.from({ length: width }, (_, at) => ({ not: { const: at } })) },
});
const PAYLOAD = `[${'"x",'.repeat(PAYLOAD_BYTES / 4 - 1)}"x"]`;

export const checks: Attack = {
  name: 'schema-checks',
  about: `${ACCOUNTS} accounts of one platform, each with a costly schema, post ${PAYLOAD_BYTES / 1_000} KB against it`,
  async prepare({ account }) {
    const platform = await account({ scopes: PLATFORM_SCOPES });
    const names: string[] = [];
    for (let at = 0; at < ACCOUNTS; at += 1) {
      const made = await platform.request('POST', '/v18.0/accounts', { name: `hostile ${at}` });
      const { id } = JSON.parse(made.text) as { id: string };
      for (const width of WIDTHS) {
        const body = { name: 'costly', description: '', schema: schemaOf(width) };
        const { status } = await platform.request('POST', '/v18.0/event_kinds', body, {
          'hookline-account': id,
        });
        if (status === 201) break;
      }
      names.push(id);
    }
    return (stop) =>
      insist(ACCOUNTS * 2, stop, (side) =>
        platform.request('POST', '/v18.0/events/costly', PAYLOAD, {
          'hookline-account': names[side % ACCOUNTS],
        }),
      );
  },
};
