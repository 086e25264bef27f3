import type { Account } from '../../../api/types.js';
import { AccountFields } from './account-fields.js';

const FIELDS = {
  name: { label: 'Name', placeholder: 'Acme Events' },
  logo_url: { label: 'Logo', placeholder: 'https://cdn.example.com/logo.svg' },
  color: { label: 'Colour', placeholder: '#0a7f5a' },
};

/** How the portal of the account looks; what is empty is as the installation has it. */
export function Look({ account }: { account: Account }) {
  return (
    <AccountFields
      account={account}
      title="Look of its portal"
      save="Save the look"
      fields={FIELDS}
      saved={account.portal ?? {}}
      changeOf={(portal) => ({ portal })}
    />
  );
}
