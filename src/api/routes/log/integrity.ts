import { recordDifferences } from '../../../domain/archive/differences.js';
import { canonicalJson, changeRecord, type DeliveryRecord } from '../../../domain/archive/record.js';
import { isRecordAltered, type RecordAlteredError } from '../../../domain/archive/record-altered.js';
import { parseDeliveryId } from '../../../domain/basics/delivery-id.js';
import { isId } from '../../../domain/basics/ids.js';
import { isClosed } from '../../../domain/delivery/delivery.js';
import { notFound } from '../../../domain/http/problem.js';
import { isLogAltered } from '../../../domain/log/log-altered.js';
import { commitTo, isSealedTextError } from '../../../domain/privacy/data-key.js';
import type { OpenedDelivery } from '../../../models/archive/unaltered.js';
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
        const deliveries = isId('event', id)
          ? await archive.deliveryIdsOf(account_id, id, MAX_DELIVERIES)
          : undefined;
        const isKnown =
          deliveries && (deliveries.length > 0 || (await isEvent(dependencies, account_id, id)));
        if (!isKnown) throw notFound('event', id);
        ctx.body = integrityOf(id, await ofEvent(dependencies, account_id, deliveries));
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
        const record = canonicalJson(changeRecord(account_id, found));
        ctx.body = integrityOf(id, [
          await inLog(dependencies, record, found.leafIndex),
          found.wrong === undefined
            ? {
                check: 'tag',
                result: 'same',
                detail: 'It is what this installation wrote, as its tag shows.',
              }
            : { check: 'tag', result: 'differs', detail: `It ${found.wrong}.` },
        ]);
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
  if (!key) return undefined;
  const { archive } = dependencies.database;
  const [stored, held] = await Promise.all([
    archive.stored(accountId, id),
    // A run before that is in the archive may be altered: then there is nothing to compare with.
    dependencies.deliveries.held(accountId, key).catch(asAltered),
  ]);
  if (!stored) {
    if (!held) return undefined;
    const detail = isClosed(held.status)
      ? 'It is closed, and not archived yet.'
      : `It is open (${held.status}): it is recorded after it has closed.`;
    return [{ check: 'log', result: 'unknown', detail }];
  }
  const { archived } = stored;
  return [
    ...(await ofStored(dependencies, accountId, stored)),
    held?.run_id === archived.run_id
      ? compared(recordDifferences(held, archived))
      : {
          check: 'temporal',
          result: 'unknown',
          detail: held
            ? 'It was sent again since it was archived.'
            : 'It is past its time in Temporal, which has removed it.',
        },
  ];
}

/** What an archived delivery can be compared with by itself. */
async function ofStored(
  dependencies: ApiDependencies,
  accountId: string,
  { archived: { record, event_id }, leafIndex, altered }: OpenedDelivery,
): Promise<Check[]> {
  return [
    await inLog(dependencies, record, leafIndex),
    asShown(altered),
    await ofPayload(dependencies, accountId, event_id, record),
  ];
}

/** @param altered why what is archived is not what was recorded */
function asShown(altered: RecordAlteredError | undefined): Check {
  return altered
    ? { check: 'shown', result: 'differs', detail: `It ${altered.how}.` }
    : { check: 'shown', result: 'same', detail: 'What the API shows is what the record says.' };
}

/** @throws the error, if it does not say that something was altered */
function asAltered(error: unknown): undefined {
  if (!isRecordAltered(error)) throw error;
}

async function isEvent({ database, events }: ApiDependencies, accountId: string, id: string) {
  return (
    ((await database.archive.event(accountId, id)) ?? (await events.get(accountId, id, []))) !== undefined
  );
}

/** @param deliveries its archived ones */
async function ofEvent(
  dependencies: ApiDependencies,
  accountId: string,
  deliveries: readonly string[],
): Promise<Check[]> {
  const { archive } = dependencies.database;
  const checks: Check[] = [];
  for (const delivery_id of deliveries) {
    const stored = await archive.stored(accountId, delivery_id);
    const inThis = stored ? await ofStored(dependencies, accountId, stored) : [];
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
  const unknown = (detail: string): Check => ({ check: 'payload', result: 'unknown', detail });
  const { payload_commitment } = parsed(record);
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

function compared(pointers: readonly string[]): Check {
  return pointers.length === 0
    ? { check: 'temporal', result: 'same', detail: 'Temporal says the same as the record.' }
    : {
        check: 'temporal',
        result: 'differs',
        detail: `It differs from the record in ${pointers.join(', ')}.`,
      };
}

function parsed(record: string): Partial<DeliveryRecord> {
  try {
    return JSON.parse(record) as DeliveryRecord;
  } catch {
    return {};
  }
}
