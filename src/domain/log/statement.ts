import { attemptCount } from '../explain/attempt-count.js';
import { plain } from '../text/plain.js';
import type { Evidence, VerifiedCertificate } from './certificate.js';

/** Statement of a valid certificate: one sentence about what it proves, and what it does not. */
export function statementOf(
  verified: VerifiedCertificate & { stamped?: { at: Date; by: string } | undefined },
  { key, opening }: Evidence,
): string {
  const { record, hasDetails, index, linkedTo, witnessed, stamped } = verified;
  const { origin, size } = verified.checkpoint;
  const proven = [
    `when the log ${plain(origin)} signed its checkpoint of ${size} ${size === 1 ? 'record' : 'records'}, number ${index} was this record of ${describe(record)}`,
    hasDetails && `the details in the certificate, ${DETAILS[record.type]}, are what was recorded`,
    opening !== undefined && 'the payload given is what was recorded',
    linkedTo !== undefined && `the log is the same as that of the checkpoint given, of ${linkedTo}`,
    ...witnessed.map(
      ({ name, at }) =>
        `the witness ${plain(name)} cosigned that checkpoint at ${at.toISOString()}, as a continuation of all that it had cosigned before`,
    ),
    stamped &&
      `the checkpoint was there at ${stamped.at.toISOString()}, as the time stamp of ${plain(stamped.by)} says`,
  ];
  const unproven = [
    'that the operator recorded the truth before that checkpoint',
    record.type === 'delivery' && 'what the subscriber did with the event',
    key === undefined &&
      "that the key in the certificate is the operator's, because no other was given to compare",
  ];
  return `This proves that ${list(proven, 'and that')}; it does not prove ${list(unproven, 'or')}.`;
}

const DETAILS = {
  delivery: 'where each attempt went and what came back',
  change: 'what was changed, from where and why',
  void: '',
};

function describe(record: VerifiedCertificate['record']): string {
  if (record.type === 'change') return `change ${record.change_id} (${record.outcome})`;
  if (record.type === 'void') return `the void numbers ${record.first} to ${record.last}`;
  return `delivery ${record.delivery_id} (${record.status} after ${attemptCount(record.attempts ?? [])})`;
}

/** @param facts those that there are */
function list(facts: readonly (string | false | undefined)[], conjunction: string): string {
  const parts = facts.filter((fact) => typeof fact === 'string');
  const last = parts.at(-1) ?? '';
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')}, ${conjunction} ${last}`;
}
