import { z } from 'zod';
import { parseDeliveryId } from '../../../domain/basics/delivery-id.js';
import { isId } from '../../../domain/basics/ids.js';
import { notFound } from '../../../domain/http/problem.js';
import { LogAlteredError } from '../../../domain/log/log-altered.js';
import { commitTo, SealedTextError } from '../../../domain/privacy/data-key.js';
import { type CanonicalDelivery, canonicalJson, changeRecord } from '../../../domain/records/record.js';
import { RecordAlteredError } from '../../../domain/records/record-altered.js';
import type { DeliveryRow } from '../../../domain/records/stored.js';
import type { OpenedDelivery } from '../../../models/records/unaltered.js';
import type { ApiDependencies } from '../../http/context.js';
import { found } from '../../http/found.js';
import { type Operation, operation } from '../../http/operation.js';

/** Deliveries of an event that are looked at. */
const MAX_DELIVERIES = 50;

const integritySchema = z
  .object({
    id: z.string(),
    verdict: z
      .enum(['unaltered', 'altered', 'not_proven'])
      .describe(
        'altered: a check failed; not_proven: nothing is altered, but the signed log does not contain it yet',
      ),
    checks: z.array(
      z.object({
        check: z
          .enum(['log', 'shown', 'payload', 'tag'])
          .describe(
            'log: the record is the one in the signed log. shown: the API shows the recorded state. payload: it is the one that the record commits to. tag: for a change, its tag under a key outside the database is valid',
          ),
        result: z
          .enum(['same', 'differs', 'unknown'])
          .describe('unknown: there is nothing to compare with, or not yet'),
        detail: z.string().describe('Human-readable, with differences as JSON Pointers into the record'),
        delivery_id: z.string().optional().describe('For an event: the delivery whose record was checked'),
      }),
    ),
  })
  .meta({ id: 'Integrity' });

/** One thing that was compared. */
type Check = z.output<typeof integritySchema>['checks'][number];

function checked(check: Check['check'], result: Check['result'], detail: string): Check {
  return { check, result, detail };
}

/** Result of several checks. */
function integrityOf(id: string, checks: Check[]): z.output<typeof integritySchema> {
  const isAltered = checks.some(({ result }) => result === 'differs');
  const isProven = checks.some(({ check, result }) => check === 'log' && result === 'same');
  const isHeld = isProven && !checks.some(({ check, result }) => check === 'log' && result === 'unknown');
  return { id, verdict: isAltered ? 'altered' : isHeld ? 'unaltered' : 'not_proven', checks };
}

/** Has this record been altered? What is shown against the record, the record against the signed log. */
export function integrityOperations(dependencies: ApiDependencies): Operation[] {
  const { changes, records } = dependencies.database;
  const responses = {
    200: { description: 'Checks and their result', schema: integritySchema },
  };
  return [
    operation('get', '/deliveries/:id/integrity', 'getDeliveryIntegrity', {
      summary: 'Check whether a delivery has been altered: its view, its record, and the signed log',
      scope: 'deliveries:read',
      responses,
      async handle({ account_id, params: { id } }) {
        const checks = await ofDelivery(dependencies, account_id, id);
        if (!checks) throw notFound('delivery', id);
        return integrityOf(id, checks);
      },
    }),

    operation('get', '/events/:id/integrity', 'getEventIntegrity', {
      summary: 'Check whether an event has been altered: its payload, and the records of its deliveries',
      scope: 'deliveries:read',
      responses,
      async handle({ account_id, params: { id } }) {
        const deliveries = isId('event', id)
          ? await records.deliveryIdsOf(account_id, id, MAX_DELIVERIES)
          : undefined;
        const isKnown =
          deliveries && (deliveries.length > 0 || (await isEvent(dependencies, account_id, id)));
        if (!isKnown) throw notFound('event', id);
        return integrityOf(id, await ofEvent(dependencies, account_id, deliveries));
      },
    }),

    operation('get', '/changes/:id/integrity', 'getChangeIntegrity', {
      summary: 'Check whether the record of a change has been altered, by the signed log',
      scope: 'changes:read',
      responses,
      async handle({ account_id, params: { id } }) {
        const stored = await found('change', id, () => changes.get(account_id, id));
        const record = canonicalJson(changeRecord(account_id, stored));
        return integrityOf(id, [
          await inLog(dependencies, record, stored.leafIndex),
          stored.wrong === undefined
            ? checked('tag', 'same', 'It is what this installation wrote, as its tag shows.')
            : checked('tag', 'differs', `It ${stored.wrong}.`),
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
  const stored = await dependencies.database.records.stored(accountId, id);
  if (stored) return ofStored(dependencies, accountId, stored);
  // Nothing has happened to it yet.
  return (await dependencies.deliveries.get(accountId, key)) && [isOpen()];
}

/** Comparison of a recorded delivery by itself. */
async function ofStored(
  dependencies: ApiDependencies,
  accountId: string,
  { recorded, segment, altered }: OpenedDelivery,
): Promise<Check[]> {
  const { record, event_id } = recorded;
  if (record === undefined || segment === undefined) return [isOpen(), asShown(altered)];
  return [
    await recordInLog(dependencies, { ...recorded, record }, segment),
    asShown(altered),
    await ofPayload(dependencies, accountId, event_id, record),
  ];
}

/** @param altered why what is stored is not what was written */
function asShown(altered: RecordAlteredError | undefined): Check {
  return altered
    ? checked('shown', 'differs', `It ${altered.how}.`)
    : checked('shown', 'same', 'What the API shows is what was written.');
}

function isOpen(): Check {
  return checked('log', 'unknown', 'It is open: it is recorded when it closes.');
}

async function isEvent({ database }: ApiDependencies, accountId: string, id: string) {
  return (await database.records.event(accountId, id)) !== undefined;
}

/** @param deliveries its ids: of open ones, which have no record yet, what is shown is compared alone */
async function ofEvent(
  dependencies: ApiDependencies,
  accountId: string,
  deliveries: readonly string[],
): Promise<Check[]> {
  const { records } = dependencies.database;
  const checks: Check[] = [];
  for (const delivery_id of deliveries) {
    const stored = await records.stored(accountId, delivery_id);
    if (!stored) continue;
    const isRecorded = stored.recorded.record !== undefined;
    const inThis = isRecorded ? await ofStored(dependencies, accountId, stored) : [asShown(stored.altered)];
    checks.push(...inThis.map((check) => ({ ...check, delivery_id })));
  }
  if (checks.some(({ check }) => check === 'log')) return checks;
  const open = 'No delivery of the event has closed yet: records are of closed deliveries.';
  return [checked('log', 'unknown', open), ...checks];
}

/** Whether the signed log holds the record of a delivery, where its segment says. */
async function recordInLog(
  dependencies: ApiDependencies,
  { id: _id, revision, record }: DeliveryRow & { record: string },
  segment: string,
): Promise<Check> {
  try {
    const leaf = await dependencies.database.records.leafOf({ _id, revision, record, segment });
    return await inLog(dependencies, record, leaf);
  } catch (error) {
    if (!(error instanceof RecordAlteredError)) throw error;
    return checked('log', 'differs', `It ${error.how}.`);
  }
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
      return checked(
        'log',
        'unknown',
        'It is not in the signed log yet: ask again after its next checkpoint.',
      );
    const where = `as number ${index}, in its checkpoint of ${proof.head.size} records`;
    return checked('log', 'same', `The signed log holds the record ${where}.`);
  } catch (error) {
    if (!(error instanceof LogAlteredError)) throw error;
    return checked('log', 'differs', `The signed log holds another record: ${error.message}.`);
  }
}

/** Whether the payload that is kept is the one that a record commits to. */
async function ofPayload(
  { database: { records }, sealer }: ApiDependencies,
  accountId: string,
  eventId: string,
  record: string,
): Promise<Check> {
  const unknown = (detail: string) => checked('payload', 'unknown', detail);
  const { payload_commitment } = parsed(record);
  if (payload_commitment === undefined) return unknown('The record commits to no payload.');
  const stored = await records.storedPayload(accountId, eventId);
  if (stored === undefined) return unknown('The payload is not kept any more.');
  const context = { accountId, eventId };
  try {
    const [payload, salt] = await Promise.all([sealer.open(context, stored), sealer.salt(context, stored)]);
    if (payload === undefined || !salt) return unknown('The payload was erased, and its salt with it.');
    return commitTo(salt, payload) === payload_commitment
      ? checked('payload', 'same', 'The payload is the one that the record commits to.')
      : checked('payload', 'differs', 'The record commits to another payload.');
  } catch (error) {
    if (!(error instanceof SealedTextError)) throw error;
    return checked('payload', 'differs', `The payload cannot be opened: ${error.message}.`);
  }
}

function parsed(record: string): Partial<CanonicalDelivery> {
  try {
    return JSON.parse(record) as CanonicalDelivery;
  } catch {
    return {};
  }
}
