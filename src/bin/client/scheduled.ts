import type { Schemas } from '../../../clients/typescript/src/index.js';
import { CommandError, type Values } from '../command.js';
import { client } from './connection.js';
import { showList } from './listing.js';
import { plain, print, printJson, time } from './terminal.js';
import { limitOf } from './values.js';

/** Lists the scheduled events that wait, or cancels one. */
export async function scheduled(values: Values, [action = 'list', id]: string[]): Promise<void> {
  const hookline = await client();
  switch (action) {
    case 'list': {
      const limit = limitOf(values);
      const query = { limit: Math.min(limit, 100) };
      const listing = {
        none: 'No scheduled events.',
        header: ['DELIVER AT', 'KIND', 'SCHEDULED EVENT'],
        cells: (event: Schemas['ScheduledEvent']) => [time(event.deliver_at), event.kind, event.id],
      };
      return showList(hookline.list('/v18.0/scheduled_events', { query }), values, listing, limit);
    }
    case 'cancel':
      if (!id) throw new CommandError('Name the scheduled event by its id: hookline scheduled cancel sch_…');
      await hookline.delete('/v18.0/scheduled_events/{kind_or_id}', { params: { path: { kind_or_id: id } } });
      return values['json'] === true ? printJson({ id, cancelled: true }) : print(`Cancelled: ${plain(id)}`);
    default:
      throw new CommandError(`There is no action "${action}"; use one of: list, cancel.`);
  }
}
