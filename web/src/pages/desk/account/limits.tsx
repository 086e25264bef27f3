import type { Account } from '../../../api/types.js';
import { AccountFields } from './account-fields.js';

const NUMBER = { type: 'number', min: 1, placeholder: 'as installed' };
const FIELDS = {
  events_per_minute: { ...NUMBER, label: 'Events per minute' },
  requests_per_minute: { ...NUMBER, label: 'Requests per minute and token' },
  max_endpoints: { ...NUMBER, label: 'Endpoints' },
};

/** The account's own limits; an empty one is the installation's. */
export function Limits({ account }: { account: Account }) {
  return (
    <AccountFields
      account={account}
      title="Limits"
      save="Save the limits"
      fields={FIELDS}
      saved={mapped(account.limits ?? {}, String)}
      changeOf={(texts) => ({ limits: mapped(texts, (text) => (text === null ? null : Number(text))) })}
    />
  );
}

/** An object with the same names and other values. */
function mapped<V, W>(values: Record<string, V>, map: (value: V) => W): Record<string, W> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}
