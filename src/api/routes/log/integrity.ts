import { recordDifferences } from '../../../domain/archive/differences.js';
import { canonicalJson, changeRecord, type DeliveryRecord } from '../../../domain/archive/record.js';
import { parseDeliveryId } from '../../../domain/basics/delivery-id.js';
import { isId } from '../../../domain/basics/ids.js';
import { isClosed } from '../../../domain/delivery/delivery.js';
import { notFound } from '../../../domain/http/problem.js';
import { isLogAltered } from '../../../domain/log/log-altered.js';
import { commitTo, isSealedTextError } from '../../../domain/privacy/data-key.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { type Check, integrityOf, integritySchema } from './integrity-view.js';

/** Deliveries of an event that are looked at. */
const MAX_DELIVERIES = 50;

/** Has this record been altered? What is shown against the record, the record against the signed log. */
export function integrityOperations(dependencies: ApiDependencies): Operation[] {
  const { changes, archive } = dependencies.database;
  const responses = {
    200: { description: 'What was compared, and what it comes to', schema: integritySchema },
  };
  return [
    operation({
      method: 'get',
      path: '/deliveries/:id/integrity',
      id: 'getDeliveryIntegrity',
      summary:
        'Say whether a delivery has been altered: what is shown, its record, the signed log, and Temporal',
      scope: 'deliveries:read',
      responses,
      problems: [],
      async handle(ctx, { params: { id = '' } }) {
        const { account_id } = ctx.state.caller;
        const checks = parseDeliveryId(id) && (await ofDelivery(dependencies, account_id, id));
        if (!checks) throw notFound('delivery', id);
        ctx.body = integrityOf(id, checks);
      },
    }),

    operation({
      method: 'get',
      path: '/events/:id/integrity',
      id: 'getEventIntegrity',
      summary: 'Say whether an event has been altered: its payload, and the records of its deliveries',
      scope: 'deliveries:read',
      responses,
      problems: [],
      async handle(ctx, { params: { id = '' } }) {
        const { account_id } = ctx.state.caller;
        const isKnown =
          isId('event', id) &&
          ((await archive.event(account_id, id)) ?? (await dependencies.events.get(account_id, id, [])));
        if (!isKnown) throw notFound('event', id);
        ctx.body = integrityOf(id, await ofEvent(dependencies, account_id, id));
      },
    }),

    operation({
      method: 'get',
      path: '/changes/:id/integrity',
      id: 'getChangeIntegrity',
      summary: 'Say whether the record of a change has been altered, by the signed log',
      scope: 'changes:read',
      responses,
      problems: [],
      async handle(ctx, { params: { id = '' } }) {
        const { account_id } = ctx.state.caller;
        const found = isId('change', id) ? await changes.get(account_id, id) : undefined;
        if (!found) throw notFound('change', id);
        const record = canonicalJson(changeRecord(account_id, found.change));
        ctx.body = integrityOf(id, [await inLog(dependencies, record, found.leafIndex)]);
      },
    }),
  ];
}

/** @returns `undefined` if there is no such delivery */
async function ofDelivery(
  dependencies: ApiDependencies,
  accountId: string,
  id: string,
): Promise<Check[] | undefined> {
  const key = parseDeliveryId(id);
  const stored = await dependencies.database.archive.record(accountId, id);
  const read = key && (await dependencies.deliveries.both(accountId, key).catch(asUnreadable));
  if (typeof read === 'string')
    return [
      await inLog(dependencies, stored?.text ?? '', stored?.leafIndex),
      {
        check: 'shown',
        result: 'differs',
        detail: `What is kept beside the record cannot be read: ${read}.`,
      },
    ];
  const { archived, shown, held } = read ?? {};
  if (!archived || !shown) {
    if (!held) return undefined;
    const detail = isClosed(held.status)
      ? 'It is closed, and not archived yet.'
      : `It is open (${held.status}): it is recorded after it has closed.`;
    return [{ check: 'log', result: 'unknown', detail }];
  }
  // What lists are filtered by must say what the record says, too.
  const { event_id, endpoint_id, event_kind, status } = archived;
  const differences = [
    ...recordDifferences(shown, archived),
    ...recordDifferences({ ...shown, event_id, endpoint_id, event_kind, status }, archived),
  ];
  return [
    await inLog(dependencies, archived.record, stored?.leafIndex),
    compared('shown', [...new Set(differences)], 'What the API shows is what the record says.'),
    await ofPayload(dependencies, accountId, archived.event_id, archived.record),
    held?.run_id === archived.run_id
      ? compared('temporal', recordDifferences(held, archived), 'Temporal says the same as the record.')
      : {
          check: 'temporal',
          result: 'unknown',
          detail: held
            ? 'It was sent again since it was archived.'
            : 'It is past its time in Temporal, which has removed it.',
        },
  ];
}

/** Why something that is kept cannot be read. @throws the error, if it is about something else */
function asUnreadable(error: unknown): string {
  if (isSealedTextError(error) || error instanceof SyntaxError) return error.message;
  throw error;
}

async function ofEvent(dependencies: ApiDependencies, accountId: string, id: string): Promise<Check[]> {
  const { archive } = dependencies.database;
  const listed = await archive.deliveriesOf(accountId, [id], MAX_DELIVERIES);
  const whole = await archive.whole(
    accountId,
    listed.map((one) => one.id),
  );
  const checks: Check[] = [];
  for (const [delivery_id, { record }] of [...whole].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const stored = await archive.record(accountId, delivery_id);
    const inThis = [
      await inLog(dependencies, record, stored?.leafIndex),
      await ofPayload(dependencies, accountId, id, record),
    ];
    checks.push(...inThis.map((check) => ({ ...check, delivery_id })));
  }
  if (checks.length > 0) return checks;
  return [
    {
      check: 'log',
      result: 'unknown',
      detail: 'No delivery of the event is archived yet: records are of deliveries.',
    },
  ];
}

/** Whether the signed log holds a record. */
async function inLog(
  { database: { log }, logKeys }: ApiDependencies,
  record: string,
  index: number | undefined,
): Promise<Check> {
  try {
    const proof = index === undefined ? undefined : await log.prove(record, index, await logKeys.known());
    if (!proof)
      return {
        check: 'log',
        result: 'unknown',
        detail: 'It is not in the signed log yet: ask again after its next checkpoint.',
      };
    return {
      check: 'log',
      result: 'same',
      detail: `The signed log holds the record as number ${index}, in its checkpoint of ${proof.head.size} records.`,
    };
  } catch (error) {
    if (!isLogAltered(error)) throw error;
    return {
      check: 'log',
      result: 'differs',
      detail: `The signed log holds another record: ${error.message}.`,
    };
  }
}

/** Whether the payload that is kept is the one that a record commits to. */
async function ofPayload(
  { database: { archive }, sealer }: ApiDependencies,
  accountId: string,
  eventId: string,
  record: string,
): Promise<Check> {
  const { payload_commitment } = JSON.parse(record) as DeliveryRecord;
  const unknown = (detail: string): Check => ({ check: 'payload', result: 'unknown', detail });
  if (payload_commitment === undefined) return unknown('The record commits to no payload.');
  const stored = await archive.storedPayload(accountId, eventId);
  if (stored === undefined) return unknown('The payload is not kept any more.');
  const context = { accountId, eventId };
  try {
    const [payload, salt] = await Promise.all([sealer.open(context, stored), sealer.salt(context, stored)]);
    if (payload === undefined || !salt) return unknown('The payload was erased, and its salt with it.');
    return commitTo(salt, payload) === payload_commitment
      ? { check: 'payload', result: 'same', detail: 'The payload is the one that the record commits to.' }
      : { check: 'payload', result: 'differs', detail: 'The record commits to another payload.' };
  } catch (error) {
    if (!isSealedTextError(error)) throw error;
    return { check: 'payload', result: 'differs', detail: `The payload cannot be opened: ${error.message}.` };
  }
}

function compared(check: Check['check'], pointers: readonly string[], same: string): Check {
  return pointers.length === 0
    ? { check, result: 'same', detail: same }
    : { check, result: 'differs', detail: `It differs from the record in ${pointers.join(', ')}.` };
}
