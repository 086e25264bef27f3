import type { Connection } from 'mongoose';
import { type IdKind, isId } from '../../domain/basics/ids.js';

/** Where what has an id is kept, and the field that has it: each is indexed. */
const PLACES: { [Kind in IdKind]?: { collection: string; field: string } } = {
  api_key: { collection: 'api_keys', field: 'key_id' },
  desk_session: { collection: 'desk_sessions', field: 'session_id' },
  endpoint: { collection: 'endpoints', field: '_id' },
  erasure: { collection: 'erasures', field: '_id' },
  event: { collection: 'events', field: '_id' },
  oauth_client: { collection: 'oauth_clients', field: '_id' },
  portal_session: { collection: 'portal_sessions', field: 'session_id' },
  profile: { collection: 'profiles', field: '_id' },
  replay: { collection: 'replays', field: '_id' },
};

/** Those that act, and have a name. */
const ACTORS = ['api_key', 'oauth_client', 'portal_session'] as const;

/** Tells whose something is that MongoDB has, and what people call it. */
export class HolderRepository {
  private readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /**
   * The account of what has an id, for the operator alone; `undefined` if there is
   * none.
   */
  async accountOf(kind: IdKind, id: string): Promise<string | undefined> {
    const place = PLACES[kind];
    if (!place) return undefined;
    const found = await this.connection
      .collection<{ account_id?: unknown }>(place.collection)
      .findOne({ [place.field]: id }, { projection: { account_id: 1 } });
    return typeof found?.account_id === 'string' ? found.account_id : undefined;
  }

  /**
   * Names for people of some API keys, OAuth clients and portal sessions, by id.
   *
   * @param accountId only those of this account; absent: of any, for the operator alone
   */
  async namesOf(ids: readonly string[], accountId?: string): Promise<Map<string, string>> {
    const names = new Map<string, string>();
    await Promise.all(
      ACTORS.map(async (kind) => {
        const asked = [...new Set(ids.filter((id) => isId(kind, id)))];
        const place = PLACES[kind];
        if (!place || asked.length === 0) return;
        const found = this.connection
          .collection(place.collection)
          .find(
            { [place.field]: { $in: asked }, ...(accountId !== undefined && { account_id: accountId }) },
            { projection: { [place.field]: 1, name: 1 } },
          );
        for await (const one of found) names.set(String(one[place.field]), String(one['name'] ?? ''));
      }),
    );
    return names;
  }
}
