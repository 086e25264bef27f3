import type { Schemas } from '../../../../clients/typescript/src/index.js';
import { CommandError, type Values } from '../../command.js';
import { client } from '../connection.js';
import { showList } from '../listing.js';
import { plain, print } from '../terminal.js';
import { textOf } from '../values.js';

/** Shows what each account has used in a month. */
export async function usage(values: Values): Promise<void> {
  const month = textOf(values, 'month');
  const hookline = await client();
  const query = { limit: 100, ...(month !== undefined && { month }) };
  if (values['csv'] === true) {
    if (values['json'] === true) throw new CommandError('--csv and --json exclude each other.');
    const params = { query: { ...query, format: 'csv' as const } };
    const csv: unknown = await hookline.get('/v18.0/installation/usage', { params, parseAs: 'text' });
    return print(String(csv).trimEnd().split('\r\n').map(plain).join('\n'));
  }
  await showList(hookline.list('/v18.0/installation/usage', { query }), values, {
    none: 'No account has used the service in that month.',
    header: ['MONTH', 'ACCOUNT', 'NAME', 'EVENTS', 'BYTES', 'DELIVERIES', 'ATTEMPTS'],
    cells: ({ month, account, events, bytes, deliveries, attempts }: Schemas['Usage']) => [
      ...[month, account.id, account.name],
      ...[events, bytes, deliveries, attempts].map(String),
    ],
  });
}
