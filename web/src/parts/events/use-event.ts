import { useQuery } from '@tanstack/react-query';
import { readText } from '../../api/client.js';
import type { Schemas } from '../../api/types.js';
import { payloadIn } from './payload-text.js';

/** An event, and the bytes of its payload as a text. */
export type EventWithText = Schemas['Event'] & { payloadText: string };

/** An event with its payload and its deliveries. @param live asks again, for deliveries that are open */
export function useEvent(id: string, live = false) {
  return useQuery({
    queryKey: ['event', id],
    queryFn: async (): Promise<EventWithText> => {
      const answer = await readText(`/v18.0/events/${encodeURIComponent(id)}`);
      return { ...(JSON.parse(answer) as Schemas['Event']), payloadText: payloadIn(answer) };
    },
    refetchInterval: live ? 5_000 : false,
  });
}
