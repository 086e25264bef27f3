import type { Connection } from 'mongoose';
import type { IdKind } from '../../domain/basics/ids.js';

/** Where what has an id is kept, and the field that has it: each is indexed. */
const PLACES: { [Kind in IdKind]?: { collection: string; field: string } } = {
  api_key: { collection: 'api_keys', field: 'key_id' },
  endpoint: { collection: 'endpoints', field: '_id' },
  erasure: { collection: 'erasures', field: '_id' },
  event: { collection: 'archived_events', field: '_id' },
  oauth_client: { collection: 'oauth_clients', field: '_id' },
  portal_session: { collection: 'portal_sessions', field: 'session_id' },
  profile: { collection: 'profiles', field: '_id' },
};

/** Tells whose something is that MongoDB has, for the operator alone: everybody else asks for their own account's. */
export class HolderRepository {
  private readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** The account of what has an id; of an event, if it is archived. `undefined` if there is none. */
  async accountOf(kind: IdKind, id: string): Promise<string | undefined> {
    const place = PLACES[kind];
    if (!place) return undefined;
    const found = await this.connection
      .collection<{ account_id?: unknown }>(place.collection)
      .findOne({ [place.field]: id }, { projection: { account_id: 1 } });
    return typeof found?.account_id === 'string' ? found.account_id : undefined;
  }
}
