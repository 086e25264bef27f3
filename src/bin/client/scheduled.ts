import type { Schemas } from '../../../clients/typescript/src/index.js';
import { CommandError, type Values } from '../command.js';
import { client } from './connection.js';
import { showList } from './listing.js';
import { plain, print, printJson, time } from './terminal.js';
import { dateOf, limitOf } from './values.js';

const ACTIONS = 'list, move, cancel';

/** Lists the scheduled events that wait, moves one to another time, or cancels one. */
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
    case 'move': {
      const at = dateOf(values, 'deliver-at');
      if (!id || !at)
        throw new CommandError(
          'Say which scheduled event, and when it is sent: hookline scheduled move sch_… --deliver-at 2026-12-24T18:00:00Z',
        );
      const params = { path: { kind_or_id: id } };
      const body = { deliver_at: at.toISOString() };
      return showScheduled(
        await hookline.patch('/v18.0/scheduled_events/{kind_or_id}', { params, body }),
        values,
      );
    }
    case 'cancel':
      if (!id) throw new CommandError('Name the scheduled event by its id: hookline scheduled cancel sch_…');
      await hookline.delete('/v18.0/scheduled_events/{kind_or_id}', { params: { path: { kind_or_id: id } } });
      return values['json'] === true ? printJson({ id, cancelled: true }) : print(`Cancelled: ${plain(id)}`);
    default:
      throw new CommandError(`There is no action "${action}"; use one of: ${ACTIONS}.`);
  }
}

/** Shows a scheduled event that waits. */
export function showScheduled(event: Schemas['ScheduledEvent'], { json }: Values): void {
  if (json === true) printJson(event);
  else print(`${plain(event.id)}  ${plain(event.kind)}  scheduled for ${plain(event.deliver_at)}`);
}
