import { noticePayload, type UnannouncedEnds } from '../../src/domain/delivery/end-notice.js';
import { type EmitPorts, emitTo } from '../endpoint/endpoint-incident.js';
import { whileBeating } from '../while-beating.js';

/**
 * Tells accounts that deliveries have ended without success: an event for each endpoint, of what has ended together.
 * Repeated after a crash, it sends the same ones.
 */
export function createTellEnds({ endpoints, ledger, ends }: EmitPorts & { ends: UnannouncedEnds }) {
  return function tellEnds(): Promise<void> {
    return whileBeating(async () => {
      for (let notice = await ends.next(); notice; notice = await ends.next()) {
        const { account_id, kind, at, name } = notice;
        const event = { account_id, kind, at, transition: name, payload: noticePayload(notice) };
        await emitTo({ endpoints, ledger }, event);
        await ends.told(notice);
      }
    });
  };
}
