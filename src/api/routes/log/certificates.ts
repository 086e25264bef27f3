import { z } from 'zod';
import { openedBy } from '../../../../packages/tlog/src/index.js';
import { parseDeliveryId } from '../../../domain/basics/delivery-id.js';
import { formatDuration } from '../../../domain/basics/duration.js';
import { notFound, Problem } from '../../../domain/http/problem.js';
import {
  CERTIFICATE_FORMAT,
  type Certificate,
  certificateSchema,
  type Opening,
  openingSchema,
} from '../../../domain/log/certificate.js';
import { changeDetails, type Details, deliveryDetails } from '../../../domain/records/details.js';
import { canonicalJson, changeRecord, voidRecord } from '../../../domain/records/record.js';
import { RecordAlteredError } from '../../../domain/records/record-altered.js';
import { deliveryIn } from '../../../domain/records/stored-views.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';

const query = z.strictObject({
  details: z
    .enum(['true', 'false'])
    .default('true')
    .describe('false: without the details of the record, for readers who should not see them'),
  checkpoint: z
    .enum(['stamped', 'last'])
    .default('stamped')
    .describe(
      'Checkpoint of the proof. stamped: the oldest with a time stamp that has the record, if there is one; last: the latest, with the cosignatures of all current witnesses',
    ),
});

/** Reads what a certificate opens of its record. */
type OpenDetails = () => Promise<Pick<Certificate, 'details'>>;

/** Proofs of what was recorded: certificates, which everybody can check without this service. */
export function certificateOperations({
  database: { records, changes, log, sequences },
  deliveries,
  logKeys,
  sealer,
  settings: { HOOKLINE_LOG_INTERVAL: intervalMs },
}: ApiDependencies): Operation[] {
  const notYet = (what: string): Problem => {
    const off = 'HOOKLINE_LOG_INTERVAL is off in this installation: nothing is added to the log.';
    if (intervalMs === undefined) return new Problem('not_in_log', `${what}. ${off}`);
    const detail = `${what}. The log is signed every ${formatDuration(intervalMs)}: ask again after that.`;
    const headers = { 'retry-after': String(Math.ceil(intervalMs / 1_000)) };
    return new Problem('not_in_log', detail, { headers });
  };

  /** @param index of the record in the log; absent if it is not in there */
  const certify = async (
    what: string,
    {
      record,
      index,
      checkpoint,
      opening,
    }: { record: string; index: number | undefined; checkpoint: 'stamped' | 'last'; opening?: OpenDetails },
  ): Promise<Certificate> => {
    const keys = await logKeys.known();
    // A log that was altered takes nothing more: its state says so, and not that this is to be waited for.
    if (index === undefined) await log.head(keys);
    const found = index === undefined ? undefined : await log.prove(record, index, keys, checkpoint);
    const key = found && openedBy(found.head.note, keys);
    if (!found || !key || index === undefined) throw notYet(`${what} is not in the log yet`);
    return {
      type: 'certificate',
      format: CERTIFICATE_FORMAT,
      record: JSON.parse(record),
      ...(await opening?.()),
      leaf_index: index,
      inclusion_proof: found.proof.map((hash) => hash.toString('base64')),
      checkpoint: found.head.note,
      ...(found.head.timestamp !== undefined && { timestamp: found.head.timestamp }),
      log_key: key.text,
    };
  };

  /** A closed delivery. @throws Problem 404 that says when the log will have it */
  const recorded = async (accountId: string, id: string) => {
    const key = parseDeliveryId(id);
    const found = key && (await records.record(accountId, id));
    if (found) return found;
    const delivery = key && (await deliveries.get(accountId, key));
    if (!delivery) throw notFound('delivery', id);
    throw notYet(`The delivery ${id} is open (${delivery.status}): it is recorded when it closes`);
  };

  /** The payload of an event and its salt, as far as they are still there. */
  const opened = async (accountId: string, eventId: string): Promise<[string?, Buffer?]> => {
    const { payload, kept } = (await records.event(accountId, eventId)) ?? {};
    return kept ? [payload, await sealer.salt({ accountId, eventId }, kept.sealed)] : [];
  };

  /** @throws RecordAlteredError if the log has another record where it should have this one */
  const requireLeaf = async (what: string, record: string, index: number | undefined): Promise<void> => {
    if (index !== undefined && !(await log.isLeaf(record, index)))
      throw new RecordAlteredError(what, `is not the record of leaf ${index} of the log`);
  };

  /** Shows what a record commits to. */
  const shown = (value: Details, salt: Buffer | undefined): Pick<Certificate, 'details'> =>
    salt ? { details: { value: { ...value }, salt: salt.toString('base64') } } : {};

  /**
   * Details of a recorded delivery, while the key of its event exists and no later record has taken its place.
   *
   * @throws RecordAlteredError
   */
  const deliveryOpening = async (accountId: string, id: string, eventId: string, record: string) => {
    const delivery = await records.delivery(accountId, id);
    if (delivery?.detail === undefined || delivery.record !== record) return {};
    const salt = await records.detailsSalt({ accountId, eventId }, delivery);
    return shown(deliveryDetails(deliveryIn(delivery)), salt);
  };

  return [
    operation('get', '/deliveries/:id/certificate', 'getDeliveryCertificate', {
      summary:
        'Get the certificate of a closed delivery: its record, with a proof that the signed log contains it',
      scope: 'deliveries:read',
      responses: {
        200: { description: 'The certificate. `hookline verify` checks it', schema: certificateSchema },
      },
      query,
      problems: ['not_in_log', 'log_altered', 'record_altered'],
      async handle({ account_id, params: { id }, query: { details, checkpoint } }) {
        const { text: record, leafIndex: index, eventId } = await recorded(account_id, id);
        return certify(`The delivery ${id}`, {
          record,
          index,
          checkpoint,
          ...(details === 'true' && { opening: () => deliveryOpening(account_id, id, eventId, record) }),
        });
      },
    }),

    operation('get', '/deliveries/:id/certificate/opening', 'getDeliveryOpening', {
      summary: 'Get the payload and the salt of a certificate, which prove the delivered payload',
      scope: 'deliveries:read',
      responses: {
        200: {
          description: 'Payload and salt. With the salt, guesses of the payload can be tested',
          schema: openingSchema,
        },
      },
      problems: ['not_in_log', 'payload_gone', 'record_altered'],
      async handle({ account_id, params: { id } }) {
        const { eventId } = await recorded(account_id, id);
        const [payload, salt] = await opened(account_id, eventId);
        if (payload === undefined || !salt)
          throw new Problem(
            'payload_gone',
            `The payload of the event ${eventId} is not kept any more, and neither is its salt.`,
          );
        return {
          type: 'opening',
          format: CERTIFICATE_FORMAT,
          delivery_id: id,
          payload,
          salt: salt.toString('base64'),
        } satisfies Opening;
      },
    }),

    operation('get', '/sequence/void/:first/certificate', 'getVoidCertificate', {
      summary: 'Get the certificate of void numbers: a proof by the log that no event has them',
      scope: 'deliveries:read',
      closedToPortal: true,
      responses: { 200: { description: 'The certificate', schema: certificateSchema } },
      problems: ['not_in_log', 'log_altered', 'record_altered'],
      async handle({ account_id, params: { first: text } }) {
        const first = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0;
        const found = await sequences.voids.within(account_id, { first, last: first });
        const numbers = found.find((one) => one.first === first);
        if (!numbers) throw notFound('range of void numbers that begins with', text);
        const { leaf_index: index, ...of } = numbers;
        const record = canonicalJson(voidRecord(of));
        await requireLeaf(`The range from ${text}`, record, index);
        return certify(`The range of void numbers from ${text}`, { record, index, checkpoint: 'stamped' });
      },
    }),

    operation('get', '/changes/:id/certificate', 'getChangeCertificate', {
      summary: 'Get the certificate of a change: its record, with a proof that the signed log contains it',
      scope: 'changes:read',
      responses: { 200: { description: 'The certificate', schema: certificateSchema } },
      query,
      problems: ['not_in_log', 'log_altered', 'record_altered'],
      async handle({ account_id, params: { id }, query: { details, checkpoint } }) {
        const found = await changes.get(account_id, id);
        if (!found) throw notFound('change', id);
        const { change, salt, leafIndex: index } = found;
        const record = canonicalJson(changeRecord(account_id, found));
        await requireLeaf(id, record, index);
        return certify(`The change ${id}`, {
          record,
          index,
          checkpoint,
          ...(details === 'true' && { opening: async () => shown(changeDetails(change), salt) }),
        });
      },
    }),
  ];
}
