import type { Connection, Model } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { newId } from '../../domain/basics/ids.js';
import { newSigningSecret, type SignatureScheme } from '../../domain/delivery/signature.js';
import type { DisableResult } from '../../domain/endpoint/endpoint.js';
import type { FailingMark } from '../../domain/endpoint/incident.js';
import { ShortCache } from '../mongo/short-cache.js';
import { EndpointCodec } from './endpoint-codec.js';
import {
  type EndpointDocument,
  type EndpointInput,
  type EndpointSecrets,
  endpointSchema,
  type SealedKey,
  type StoredEndpoint,
} from './endpoint-document.js';

/** A change made by another process is seen after this long at the latest, milliseconds. */
const CACHE_MS = 1_000;

const NEXT_VERSION = { $inc: { version: 1 } };

export class EndpointRepository {
  private readonly model: Model<EndpointDocument>;
  private readonly codec: EndpointCodec;
  private readonly byId = new ShortCache<StoredEndpoint | undefined>(CACHE_MS);
  private readonly byAccount = new ShortCache<Map<string, StoredEndpoint>>(CACHE_MS);

  /** @param box encrypts the secrets; absent in a process that neither writes endpoints nor needs their secrets */
  constructor(connection: Connection, box: SecretBox | undefined) {
    this.model = connection.model<EndpointDocument>('endpoint', endpointSchema, 'endpoints');
    this.codec = new EndpointCodec(box);
  }

  /** Registers an endpoint, with a new signing secret. */
  async create(
    accountId: string,
    input: EndpointInput,
    scheme: SignatureScheme = 'v1',
  ): Promise<StoredEndpoint> {
    const now = new Date();
    const _id = newId('endpoint');
    const document: EndpointDocument = {
      ...this.codec.toFields(_id, input),
      _id,
      account_id: accountId,
      version: 1,
      verification_revision: 1,
      status_changed_at: now,
      signing_keys: [this.codec.sealKey(_id, newSigningSecret(scheme), now)],
      created_at: now,
      updated_at: now,
    };
    await this.model.create(document);
    this.forget(accountId, document._id);
    return this.codec.toEndpoint(document);
  }

  /** One endpoint of an account; `undefined` if the account has none with that id. */
  async get(accountId: string, endpointId: string): Promise<StoredEndpoint | undefined> {
    // Who sends an event to thousands of endpoints has just read them all.
    const known = (await this.byAccount.peek(accountId))?.get(endpointId);
    const endpoint = known ?? (await this.byId.get(endpointId, () => this.find(endpointId)));
    return endpoint?.account_id === accountId ? endpoint : undefined;
  }

  /** As {@link get}, and as it is at this moment, whatever was read before. */
  async getFresh(accountId: string, endpointId: string): Promise<StoredEndpoint | undefined> {
    const endpoint = await this.find(endpointId);
    return endpoint?.account_id === accountId ? endpoint : undefined;
  }

  /** An endpoint whoever's it is, for a caller who shows another proof than a token of its account. */
  async find(endpointId: string): Promise<StoredEndpoint | undefined> {
    const document = await this.model.findById(endpointId).lean();
    return document ? this.codec.toEndpoint(document) : undefined;
  }

  /** All endpoints of an account, oldest first. */
  async all(accountId: string): Promise<StoredEndpoint[]> {
    const all = await this.byAccount.get(accountId, async () => {
      const documents = await this.model.find({ account_id: accountId }).sort({ _id: 1 }).lean();
      return new Map(documents.map((document) => [document._id, this.codec.toEndpoint(document)]));
    });
    return [...all.values()];
  }

  /** Decrypts the secrets of an endpoint. Nothing else does: reading endpoints costs no decryption. */
  secretsOf(endpoint: StoredEndpoint): EndpointSecrets {
    return this.codec.secretsOf(endpoint);
  }

  /** How many endpoints an account has. */
  count(accountId: string): Promise<number> {
    return this.model.countDocuments({ account_id: accountId });
  }

  /** Replaces what the owner sets. @returns `undefined` if the endpoint is gone, or was changed since it was read */
  async replace(before: StoredEndpoint, input: EndpointInput): Promise<StoredEndpoint | undefined> {
    const now = new Date();
    const moved = before.target_url !== input.target_url;
    const verifiesAgain =
      moved ||
      before.verification_method !== input.verification_method ||
      this.secretsOf(before).verify_token !== input.verify_token ||
      (before.status !== 'pending' && input.status === 'pending');
    const fields = Object.entries({
      ...this.codec.toFields(before.id, input),
      ...(moved && { allowed_rate: null, verification_token: null }),
      ...(verifiesAgain && { verification_revision: before.version + 1 }),
      ...(before.status !== input.status && { status_changed_at: now }),
      updated_at: now,
    });
    return this.update(
      before.account_id,
      before.id,
      {
        $set: Object.fromEntries(fields.filter(([, value]) => value != null)),
        $unset: Object.fromEntries(fields.filter(([, value]) => value == null).map(([name]) => [name, 1])),
        ...NEXT_VERSION,
      },
      { version: before.version },
    );
  }

  /**
   * Takes an active endpoint out of service, saying why.
   *
   * @param cause names what does so
   * @param verificationRevision of the endpoint that the cause is about; absent if it is about the endpoint whatever its URL is
   */
  async disable(
    accountId: string,
    endpointId: string,
    reason: string,
    cause: string,
    verificationRevision?: number,
  ): Promise<DisableResult> {
    const about = verificationRevision === undefined ? {} : { verification_revision: verificationRevision };
    const now = new Date();
    const disabled = await this.update(
      accountId,
      endpointId,
      {
        $set: {
          status: 'disabled',
          status_reason: reason,
          status_changed_at: now,
          disabled_by: cause,
          updated_at: now,
        },
        $unset: { failing: 1 },
        ...NEXT_VERSION,
      },
      { status: 'active', ...about },
    );
    if (disabled) return 'disabled';
    const document = await this.model.findById(endpointId).lean();
    if (document?.status === 'disabled' && document.disabled_by === cause) return 'disabled';
    return document?.status === 'active' ? 'changed' : 'inactive';
  }

  /** Keeps with an endpoint that it is failing, or, with `null`, that it is not. */
  async setFailing(accountId: string, endpointId: string, failing: FailingMark | null): Promise<void> {
    await this.update(accountId, endpointId, failing ? { $set: { failing } } : { $unset: { failing: 1 } });
  }

  /** Notes the token that must come back in the handshake that begins now. */
  async beginVerification(accountId: string, endpointId: string, token: string): Promise<void> {
    await this.update(accountId, endpointId, {
      $set: { verification_token: this.codec.seal(endpointId, 'verification', token) },
    });
  }

  /**
   * Takes a pending endpoint into service that has shown that it wants events.
   *
   * @param endpoint as it was read last: it must still be of that version
   * @param allowedRate deliveries per minute that it allows; absent: any number
   * @returns `undefined` if it is not pending, or was changed since
   */
  async verified(
    { account_id, id, target_url, version, status_when_verified }: StoredEndpoint,
    allowedRate: number | undefined,
  ): Promise<StoredEndpoint | undefined> {
    const now = new Date();
    return this.update(
      account_id,
      id,
      {
        $set: {
          status: status_when_verified,
          status_changed_at: now,
          verified_at: now,
          verified_url: target_url,
          updated_at: now,
          ...(allowedRate !== undefined && { allowed_rate: allowedRate }),
        },
        $unset: {
          verification_token: 1,
          status_reason: 1,
          ...(allowedRate === undefined && { allowed_rate: 1 as const }),
        },
        ...NEXT_VERSION,
      },
      { status: 'pending', target_url, version },
    );
  }

  /**
   * Disables an endpoint that has not shown that it wants events.
   *
   * @param verificationRevision of the endpoint that was asked: nothing is written if it has changed since
   */
  async verificationFailed(
    accountId: string,
    endpointId: string,
    reason: string,
    verificationRevision?: number,
  ): Promise<void> {
    const now = new Date();
    const change = { status: 'disabled', status_reason: reason, status_changed_at: now, updated_at: now };
    await this.update(
      accountId,
      endpointId,
      { $set: change, ...NEXT_VERSION },
      stillPending(verificationRevision),
    );
  }

  /** Says why an endpoint is still pending, unless it has changed since it was asked. */
  async explainPending(
    accountId: string,
    endpointId: string,
    reason: string,
    verificationRevision: number,
  ): Promise<void> {
    await this.update(
      accountId,
      endpointId,
      { $set: { status_reason: reason } },
      stillPending(verificationRevision),
    );
  }

  /**
   * Gives an endpoint a new signing secret; those it had sign along until the overlap ends, or earlier if they were to end earlier.
   *
   * @returns `undefined` where the endpoint is gone, or another rotation came in between
   */
  async rotateSecret(
    before: StoredEndpoint,
    scheme: SignatureScheme,
    overlapEnds: Date,
  ): Promise<StoredEndpoint | undefined> {
    const now = new Date();
    const fresh = this.codec.sealKey(before.id, newSigningSecret(scheme), now);
    const old = before.sealed.signing_keys
      .map((key) => ({
        ...key,
        expires_at: key.expires_at && key.expires_at < overlapEnds ? key.expires_at : overlapEnds,
      }))
      .filter(({ expires_at }) => expires_at > now);
    return this.writeKeys(before, [fresh, ...old]);
  }

  /**
   * Removes the signing secrets whose overlap has ended.
   *
   * @param all whether to remove those, too, whose overlap goes on: all but the newest
   * @returns when the next one ends, milliseconds since the epoch; `undefined` where none is left, or the endpoint is gone
   */
  async retireSecrets(accountId: string, endpointId: string, all = false): Promise<number | undefined> {
    const endpoint = await this.getFresh(accountId, endpointId);
    if (!endpoint) return undefined;
    const { signing_keys } = endpoint.sealed;
    const now = new Date();
    const live = signing_keys.filter(({ expires_at }) => !expires_at || (!all && expires_at > now));
    if (live.length < signing_keys.length && !(await this.writeKeys(endpoint, live)))
      return this.retireSecrets(accountId, endpointId, all);
    const ends = live.flatMap(({ expires_at }) => (expires_at ? [expires_at.getTime()] : []));
    return ends.length > 0 ? Math.min(...ends) : undefined;
  }

  /** Seals again every secret that an older key sealed. @returns how many endpoints that were */
  async resealAll(): Promise<number> {
    let resealed = 0;
    for await (const document of this.model.find().lean<EndpointDocument[]>().cursor()) {
      if (!this.codec.isOutdated(document)) continue;
      const { modifiedCount } = await this.model.updateOne(
        { _id: document._id, updated_at: document.updated_at },
        { $set: this.codec.reseal(document) },
      );
      resealed += modifiedCount;
    }
    return resealed;
  }

  /** @returns whether there was one */
  async delete(accountId: string, endpointId: string): Promise<boolean> {
    const { deletedCount } = await this.model.deleteOne({ _id: endpointId, account_id: accountId });
    this.forget(accountId, endpointId);
    return deletedCount > 0;
  }

  /** Writes signing keys, unless they have been changed since they were read. */
  private async writeKeys(
    { account_id, id, version }: StoredEndpoint,
    signing_keys: readonly SealedKey[],
  ): Promise<StoredEndpoint | undefined> {
    return this.update(
      account_id,
      id,
      { $set: { signing_keys, updated_at: new Date() }, ...NEXT_VERSION },
      { version },
    );
  }

  private async update(
    accountId: string,
    endpointId: string,
    change: Parameters<Model<EndpointDocument>['findOneAndUpdate']>[1],
    condition: Record<string, unknown> = {},
  ): Promise<StoredEndpoint | undefined> {
    const document = await this.model
      .findOneAndUpdate({ _id: endpointId, account_id: accountId, ...condition }, change, {
        returnDocument: 'after',
      })
      .lean();
    this.byId.forget(endpointId);
    if (!document) return undefined;
    const endpoint = this.codec.toEndpoint(document);
    // Not forgotten: where many endpoints begin to fail together, each would have the account's whole list read again. Of two updates at once
    // the list may keep the earlier one, as long as it is remembered at all: as if another process had made them.
    this.byAccount.change(accountId, (all) => all.set(endpointId, endpoint));
    return endpoint;
  }

  private forget(accountId: string, endpointId: string): void {
    this.byId.forget(endpointId);
    this.byAccount.forget(accountId);
  }
}

const stillPending = (verificationRevision: number | undefined) => ({
  status: 'pending',
  ...(verificationRevision !== undefined && { verification_revision: verificationRevision }),
});
