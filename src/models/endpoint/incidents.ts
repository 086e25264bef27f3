import type { Connection, Model } from 'mongoose';
import { UNITS } from '../../domain/basics/duration.js';
import type { EndpointIncident, IncidentOutcome } from '../../domain/endpoint/breaker/incident.js';
import type { EndpointKey } from '../../domain/endpoint/endpoint-key.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import { collection, type DocumentIn, may, must } from '../mongo/collection.js';

/** Kept for as long as a delivery can wait for its endpoint, and the time in which people ask why. */
const KEPT_MS = 400 * UNITS.d;

const incidents = collection(
  'incidents',
  {
    _id: must(String),
    account_id: must(String),
    endpoint_id: must(String),
    began_at: must(Date),
    ended_at: may(Date),
    outcome: may<IncidentOutcome>(String),
    expires_at: may(Date, { expires: 0 }),
  },
  { indexes: [{ account_id: 1, endpoint_id: 1, began_at: -1 }] },
);
type IncidentDocument = DocumentIn<typeof incidents>;

/** Incidents of endpoints, open and ended: when they began, and how they ended. */
export class IncidentRepository {
  private readonly model: Model<IncidentDocument>;

  constructor(connection: Connection) {
    this.model = incidents(connection);
  }

  /** Records that an incident began. A repeat changes nothing. @param since ISO 8601, UTC: the first failure */
  async began({ account_id, endpoint_id }: EndpointKey, since: string): Promise<void> {
    const fields = { account_id, endpoint_id, began_at: new Date(since) };
    await this.model.updateOne(
      { _id: `${endpoint_id} ${since}` },
      { $setOnInsert: fields },
      { upsert: true },
    );
  }

  /** Records how the open incident of an endpoint ended. A repeat changes nothing. */
  async ended({ account_id, endpoint_id }: EndpointKey, outcome: IncidentOutcome): Promise<void> {
    const ended_at = sharedDate();
    await this.model.updateMany(
      { account_id, endpoint_id, ended_at: null },
      { $set: { ended_at, outcome, expires_at: new Date(ended_at.getTime() + KEPT_MS) } },
    );
  }

  /** Incidents of an endpoint that were open at some time of a period, the newest first. */
  async within(
    { account_id, endpoint_id }: EndpointKey,
    from: Date,
    until: Date,
    limit: number,
  ): Promise<EndpointIncident[]> {
    const found = await this.model
      .find({
        ...{ account_id, endpoint_id, began_at: { $lte: until } },
        $or: [{ ended_at: null }, { ended_at: { $gte: from } }],
      })
      .sort({ began_at: -1 })
      .limit(limit)
      .lean();
    return found.map(({ began_at, ended_at, outcome }) => ({
      began_at,
      ...(ended_at && outcome && { ended_at, outcome }),
    }));
  }
}
