import type { EndpointStatus } from '../../domain/endpoint/endpoint.js';
import { endpointName } from '../../domain/ledger/summaries.js';
import { repositoryOf } from '../mongo/collection.js';
import { escapeRegex } from '../mongo/escape-regex.js';
import { EndpointCodec } from './endpoint-codec.js';
import { type EndpointDocument, endpoints, type StoredEndpoint } from './endpoint-document.js';

/** Filter of the endpoints of all accounts. */
interface EveryEndpointFilter {
  statuses?: readonly EndpointStatus[] | undefined;
  isFailing?: boolean | undefined;
  /** A part of the host of their URL. */
  host?: string | undefined;
}

/** The endpoints of all accounts, as the database has them: for the operator alone. Their secrets are not read. */
export class EveryEndpoint extends repositoryOf(endpoints) {
  private readonly codec = new EndpointCodec(undefined);

  /** Oldest first, after the one named. */
  async list(
    { statuses, isFailing, host }: EveryEndpointFilter,
    limit: number,
    after?: string,
  ): Promise<StoredEndpoint[]> {
    const url = host === undefined ? undefined : `^https?://[^/]*${escapeRegex(host)}`;
    const documents = await this.model
      .find({
        deleted_at: null,
        ...(statuses && { status: { $in: [...statuses] } }),
        ...(isFailing !== undefined && { failing: isFailing ? { $ne: null } : null }),
        ...(url !== undefined && { target_url: { $regex: url, $options: 'i' } }),
        ...(after !== undefined && { _id: { $gt: after } }),
      })
      .sort({ _id: 1 })
      .limit(limit)
      .lean<EndpointDocument[]>();
    return documents.map((document) => this.codec.toEndpoint(document));
  }

  /** Names for people of some of them, by id: the description, or the host. */
  async namesOf(endpointIds: readonly string[]): Promise<Map<string, string>> {
    if (endpointIds.length === 0) return new Map();
    const documents = await this.model
      .find({ _id: { $in: [...new Set(endpointIds)] }, deleted_at: null })
      .select({ description: 1, target_url: 1 })
      .lean<EndpointDocument[]>();
    return new Map(documents.map((document) => [document._id, endpointName(document)]));
  }
}
