import type { Schemas } from '../../../clients/typescript/src/index.js';
import { CommandError, type Values } from '../command.js';
import { client, connection } from './connection.js';
import { showFacts, showList } from './listing.js';
import { note, plain, print, printJson, style, time } from './terminal.js';
import { textOf } from './values.js';

/** Says whom the key or login stands for, and what it may do. */
export async function whoami({ json }: Values): Promise<void> {
  const server = await connection();
  const { url } = server;
  const hookline = await client(server);
  const session = await hookline.get('/v18.0/session');
  if (json === true) return printJson({ ...session, url });
  const { type, id, name, account, scopes, expires_at } = session;
  showFacts({
    Server: url,
    Account: `${account.name} (${account.id})`,
    Reference: account.reference,
    Token: `${type.replaceAll('_', ' ')} ${name} (${id})`,
    Scopes: scopes.join(' '),
    'Valid until': expires_at,
  });
}

/** Lists API keys, makes one, or ends one. */
export async function keys(values: Values, [action = 'list', second]: string[]): Promise<void> {
  const { scopes, json } = values;
  const hookline = await client();
  switch (action) {
    case 'list':
      return showList(hookline.list('/v18.0/api_keys', { query: { limit: 100 } }), values, {
        none: 'No keys.',
        header: ['KEY', 'STATUS', 'LAST USED', 'NAME', 'SCOPES'],
        cells: (key) => [
          ...[key.id, key.revoked_at ? 'revoked' : 'active', key.last_used_at ? time(key.last_used_at) : ''],
          ...[key.name, key.scopes.join(' ')],
        ],
      });
    case 'create': {
      if (!second || scopes === undefined)
        throw new CommandError(
          'Say its name and what it may do: hookline keys create website --scopes events:write',
        );
      const made = await hookline.post('/v18.0/api_keys', {
        body: {
          name: second,
          // The server knows the scopes, and says which there are.
          scopes: String(scopes).split(/[ ,]+/) as Schemas['CreateApiKeyBody']['scopes'],
          expires_at: textOf(values, 'expires'),
        },
      });
      if (json === true) return printJson(made);
      print(plain(made.key));
      return note(style('dim', `${plain(made.id)}. The key is shown once.`));
    }
    case 'revoke':
      if (!second) throw new CommandError('Name the key by its id: hookline keys revoke key_…');
      await hookline.delete('/v18.0/api_keys/{id}', { params: { path: { id: second } } });
      return json === true ? printJson({ id: second, revoked: true }) : print(`Revoked: ${plain(second)}`);
    default:
      throw new CommandError(`There is no action "${action}"; use one of: list, create, revoke.`);
  }
}

/** Lists the accounts of a platform, or of all, makes one, or shows one. */
export async function accounts(values: Values, [first = 'list', second]: string[]): Promise<void> {
  const hookline = await client();
  const { json } = values;
  if (first === 'list')
    return showList(hookline.list('/v18.0/accounts', { query: { limit: 100 } }), values, {
      none: 'No accounts.',
      header: ['ACCOUNT', 'STATUS', 'CREATED', 'REFERENCE', 'NAME'],
      cells: ({ id, status, created_at, reference: own = '', name }) => [
        ...[id, status, time(created_at), own, name],
      ],
    });
  if (first === 'create') {
    if (!second) throw new CommandError('Name the account: hookline accounts create "Acme Ltd"');
    const body = { name: second, reference: textOf(values, 'reference') };
    const made = await hookline.post('/v18.0/accounts', { body });
    return json === true ? printJson(made) : print(plain(made.id));
  }
  const id = first === 'show' ? second : first;
  if (!id || (first !== 'show' && !id.startsWith('acct_')))
    throw new CommandError(`"${first}" is neither an account's id nor one of: list, create, show.`);
  const account = await hookline.get('/v18.0/accounts/{id}', { params: { path: { id } } });
  if (json === true) return printJson(account);
  showFacts({
    Account: account.id,
    Name: account.name,
    Reference: account.reference,
    Status: account.status,
    Created: account.created_at,
    Limits: Object.entries(account.limits)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
  });
}
