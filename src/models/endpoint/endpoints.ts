import type { Connection, Model } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { newId } from '../../domain/basics/ids.js';
import { type Origin, subscriberOrigin, systemOrigin } from '../../domain/change/change.js';
import { newSigningSecret, type SignatureScheme } from '../../domain/delivery/signature.js';
import type { FailingMark } from '../../domain/endpoint/breaker/circuit-breaker.js';
import type { DisableResult } from '../../domain/endpoint/endpoint.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import type { Timings } from '../../domain/timings.js';
import type { ChangeRepository } from '../change/changes.js';
import { type Decide, Recorded } from '../change/recorded.js';
import { EndpointCache } from './endpoint-cache.js';
import { actionOf, changedSecrets, isAbout, renderEndpoint } from './endpoint-change.js';
import { EndpointCodec } from './endpoint-codec.js';
import {
  type EndpointDocument,
  type EndpointInput,
  type EndpointSecrets,
  endpoints,
  type ListenerInput,
  listenerFields,
  type SealedKey,
  type StoredEndpoint,
} from './endpoint-document.js';

export class EndpointRepository {
  private readonly model: Model<EndpointDocument>;
  private readonly documents: Recorded<EndpointDocument>;
  private readonly codec: EndpointCodec;
  private readonly cache: EndpointCache;

  /** @param box encrypts the secrets; absent in a process that neither writes endpoints nor needs their secrets */
  constructor(
    connection: Connection,
    box: SecretBox | undefined,
    changes: ChangeRepository,
    timings: Timings,
  ) {
    this.model = endpoints(connection);
    this.codec = new EndpointCodec(box);
    this.documents = new Recorded(this.model, changes, {
      kind: 'endpoint',
      show: (document) => renderEndpoint(this.codec.toEndpoint(document)),
    });
    this.cache = new EndpointCache((which) => this.read(which), timings);
  }

  /** Registers an endpoint, or makes a listener. @param secret what signs its deliveries, by default a new one */
  async create(
    accountId: string,
    input: EndpointInput | { listener: ListenerInput; isInbox?: boolean },
    origin: Origin,
    secret = newSigningSecret(),
  ): Promise<StoredEndpoint> {
    const now = sharedDate();
    const _id = newId('endpoint');
    const fields = 'listener' in input ? listenerFields(_id, input.listener, input.isInbox) : input;
    const making = this.documents.create(
      {
        ...this.codec.toFields(_id, fields),
        ...('listener' in input && { listener: true, verified_at: now, verified_url: fields.target_url }),
        ...('listener' in input && input.isInbox && { inbox: true }),
        _id,
        account_id: accountId,
        verification_revision: 1,
        status_changed_at: now,
        signing_keys: [this.codec.sealKey(_id, secret, now, 1)],
        created_at: now,
        updated_at: now,
      },
      origin,
    );
    const document = await making.finally(() => this.cache.forget(accountId, _id)); // also if it fails: it may be there
    return this.codec.toEndpoint(document);
  }

  /** One endpoint of an account; `undefined` if the account has none with that id. */
  async get(accountId: string, endpointId: string): Promise<StoredEndpoint | undefined> {
    const endpoint = await this.cache.get(accountId, endpointId);
    return endpoint?.account_id === accountId ? endpoint : undefined;
  }

  /** As {@link get}, but read from the database, not from the cache. */
  async getFresh(accountId: string, endpointId: string): Promise<StoredEndpoint | undefined> {
    const endpoint = await this.find(endpointId);
    return endpoint?.account_id === accountId ? endpoint : undefined;
  }

  /** An endpoint of any account, for a caller that proves itself by other means than a token of the account. */
  async find(endpointId: string): Promise<StoredEndpoint | undefined> {
    const document = await this.documents.findOne({ _id: endpointId });
    return document ? this.codec.toEndpoint(document) : undefined;
  }

  /** All endpoints of an account, oldest first. */
  all(accountId: string): Promise<StoredEndpoint[]> {
    return this.cache.all(accountId);
  }

  /** The oldest endpoints of an account, as the database has them: the way to go through very many. */
  oldest(accountId: string, limit: number): Promise<StoredEndpoint[]> {
    return this.read({ account_id: accountId }, limit);
  }

  /**
   * The endpoints of an account that are registered for operational events, as they were a moment ago
   * (`watchers_lifetime_ms`).
   */
  watchersOf(accountId: string): Promise<StoredEndpoint[]> {
    return this.cache.watchersOf(accountId);
  }

  /** Decrypts the secrets of an endpoint. Nothing else does: reading endpoints costs no decryption. */
  secretsOf(endpoint: StoredEndpoint): EndpointSecrets {
    return this.codec.secretsOf(endpoint);
  }

  /** How many endpoints an account has, or how many test inboxes. */
  count(accountId: string, of: { inbox?: true } = {}): Promise<number> {
    return this.documents.count({ account_id: accountId, ...of });
  }

  /** Characters of the filters of an account's endpoints, as JSON. @param exceptId an endpoint that is not counted */
  async filtersSize(accountId: string, exceptId?: string): Promise<number> {
    const documents = await this.documents.find({ account_id: accountId }).select({ filter: 1 }).lean();
    const others = documents.filter(({ _id }) => _id !== exceptId);
    return others.reduce((sum, { filter }) => sum + (filter?.length ?? 0), 0);
  }

  /** Replaces what the owner sets. @returns `undefined` if the endpoint was deleted, or changed since it was read */
  async replace(
    before: StoredEndpoint,
    input: EndpointInput,
    origin: Origin,
  ): Promise<StoredEndpoint | undefined> {
    const secrets = this.secretsOf(before);
    const moved = before.target_url !== input.target_url;
    const verifiesAgain =
      moved ||
      before.verification_method !== input.verification_method ||
      secrets.verify_token !== input.verify_token ||
      (before.status !== 'pending' && input.status === 'pending');
    return this.change(before.account_id, before.id, origin, ({ version }) =>
      version === before.version
        ? {
            action: actionOf(before.status, input.status),
            set: {
              ...this.codec.toFields(before.id, input),
              ...(moved && { allowed_rate: null, verification_token: null }),
              ...(verifiesAgain && { verification_revision: version + 1 }),
            },
            secrets: changedSecrets(secrets, input),
          }
        : undefined,
    );
  }

  /**
   * Takes an active endpoint out of service, saying why.
   *
   * @param cause names what does so
   * @param verificationRevision of the endpoint that the cause is about; absent if it is about the endpoint whatever
   * its URL is
   */
  async disable(
    accountId: string,
    endpointId: string,
    reason: string,
    cause: string,
    origin: Origin,
    verificationRevision?: number,
  ): Promise<DisableResult> {
    const disabled = await this.change(accountId, endpointId, origin, (before) =>
      before.status === 'active' && isAbout(before, verificationRevision)
        ? {
            action: 'disabled',
            set: { status: 'disabled', status_reason: reason, disabled_by: cause, failing: null },
          }
        : undefined,
    );
    if (disabled) return 'disabled';
    const document = await this.documents.findOne({ _id: endpointId });
    if (document?.status === 'disabled' && document.disabled_by === cause) return 'disabled';
    return document?.status === 'active' ? 'changed' : 'inactive';
  }

  /**
   * Keeps with an endpoint that it is failing, or, with `null`, that it is not, which is no change of it. A mark that
   * holds nothing back replaces none: a process may have opened the breaker before. @returns the mark that it had
   */
  async setFailing(accountId: string, endpointId: string, failing: FailingMark | null) {
    const only = failing && failing.backoff_until === undefined ? { failing: null } : {};
    return (await this.note(accountId, endpointId, { failing }, only))?.failing ?? undefined;
  }

  /** Stores the token that the subscriber must return in the verification that begins now. */
  async beginVerification(accountId: string, endpointId: string, token: string): Promise<void> {
    const verification_token = this.codec.seal(endpointId, 'verification', token);
    await this.note(accountId, endpointId, { verification_token });
  }

  /**
   * Takes a pending endpoint into service: it was verified.
   *
   * @param endpoint as it was read last; nothing is written if it has another version by now
   * @param allowedRate deliveries per minute that it allows; absent: any number
   * @param from the request that confirmed it, if it was confirmed by one
   * @returns `undefined` if it is not pending, or was changed since
   */
  async verified(
    { account_id, id, target_url, version, status_when_verified }: StoredEndpoint,
    allowedRate: number | undefined,
    from?: Omit<Origin, 'actor'>,
  ): Promise<StoredEndpoint | undefined> {
    return this.change(account_id, id, subscriberOrigin(from), (before, now) =>
      before.status === 'pending' && before.version === version
        ? {
            action: 'verified',
            set: {
              status: status_when_verified,
              status_reason: null,
              verification_token: null,
              verified_at: now,
              verified_url: target_url,
              allowed_rate: allowedRate,
            },
          }
        : undefined,
    );
  }

  /**
   * Disables an endpoint that could not be verified.
   *
   * @param verificationRevision of the endpoint that was asked: nothing is written if it has changed since
   */
  async verificationFailed(
    accountId: string,
    endpointId: string,
    reason: string,
    verificationRevision?: number,
  ): Promise<void> {
    await this.change(accountId, endpointId, systemOrigin('verification'), (before) =>
      before.status === 'pending' && isAbout(before, verificationRevision)
        ? { action: 'disabled', set: { status: 'disabled', status_reason: reason } }
        : undefined,
    );
  }

  /** Says why an endpoint is still pending, unless it has changed since it was asked. */
  async explainPending(
    accountId: string,
    endpointId: string,
    reason: string,
    verificationRevision: number,
  ): Promise<void> {
    await this.change(accountId, endpointId, systemOrigin('verification'), (before) =>
      before.status === 'pending' && before.status_reason !== reason && isAbout(before, verificationRevision)
        ? { action: 'verification_failed', set: { status_reason: reason } }
        : undefined,
    );
  }

  /**
   * Gives an endpoint a new signing secret. The previous ones sign too for `overlapMs`, or less if they were to end
   * earlier. @returns `undefined` if the endpoint was deleted, or changed since it was read
   */
  async rotateSecret(
    before: StoredEndpoint,
    scheme: SignatureScheme,
    overlapMs: number,
    origin: Origin,
  ): Promise<StoredEndpoint | undefined> {
    const now = sharedDate();
    const overlapEnds = new Date(now.getTime() + overlapMs);
    const fresh = this.codec.sealKey(before.id, newSigningSecret(scheme), now, before.version + 1);
    const old = before.sealed.signing_keys
      .map((key) => ({
        ...key,
        expires_at: key.expires_at && key.expires_at < overlapEnds ? key.expires_at : overlapEnds,
      }))
      .filter(({ expires_at }) => expires_at > now);
    return this.writeKeys(before, [fresh, ...old], 'secret_rotated', origin);
  }

  /**
   * Removes the signing secrets whose overlap has ended.
   *
   * @param all whether to remove also those whose overlap has not ended: all but the newest
   * @returns when the next one ends, milliseconds since the epoch; `undefined` if none is left, or the endpoint was
   * deleted
   */
  async retireSecrets(
    accountId: string,
    endpointId: string,
    origin: Origin,
    all = false,
  ): Promise<number | undefined> {
    const endpoint = await this.getFresh(accountId, endpointId);
    if (!endpoint) return undefined;
    const { signing_keys } = endpoint.sealed;
    const now = sharedDate();
    const live = signing_keys.filter(({ expires_at }) => !expires_at || (!all && expires_at > now));
    if (
      live.length < signing_keys.length &&
      !(await this.writeKeys(endpoint, live, 'secret_retired', origin))
    )
      return this.retireSecrets(accountId, endpointId, origin, all);
    const ends = live.flatMap(({ expires_at }) => (expires_at ? [expires_at.getTime()] : []));
    return ends.length > 0 ? Math.min(...ends) : undefined;
  }

  /** Encrypts with the newest key every secret that an older key encrypted. @returns the number of endpoints changed */
  async resealAll(): Promise<number> {
    let resealed = 0;
    for await (const document of this.model.find().lean<EndpointDocument[]>().cursor())
      if (await this.reseal(document)) resealed += 1;
    return resealed;
  }

  /**
   * A verification that begins stores a secret, but makes no new version.
   *
   * @returns whether there was something to encrypt again
   */
  private async reseal(document: EndpointDocument): Promise<boolean> {
    if (!this.codec.isOutdated(document)) return false;
    const { _id, updated_at, verification_token = null } = document;
    const { matchedCount } = await this.model.updateOne(
      { _id, updated_at, verification_token },
      { $set: this.codec.reseal(document) },
    );
    if (matchedCount > 0) return true;
    const changed = await this.model.findById(_id).lean<EndpointDocument>();
    return changed !== null && this.reseal(changed);
  }

  /** @returns whether there was one to remove */
  async delete(accountId: string, endpointId: string, origin: Origin): Promise<boolean> {
    const isDeleted = await this.documents.delete({ _id: endpointId, account_id: accountId }, origin);
    this.cache.forget(accountId, endpointId);
    return isDeleted;
  }

  /** Writes signing keys, unless the endpoint has been changed since it was read. */
  private async writeKeys(
    { account_id, id, version }: StoredEndpoint,
    signing_keys: SealedKey[],
    action: 'secret_rotated' | 'secret_retired',
    origin: Origin,
  ): Promise<StoredEndpoint | undefined> {
    const secrets = [action === 'secret_rotated' ? '/secret' : '/secret/previous'];
    return this.change(account_id, id, origin, (before) =>
      before.version === version ? { action, set: { signing_keys }, secrets } : undefined,
    );
  }

  /** Makes a new version, which says when it was made, and when the status changed. */
  private async change(
    accountId: string,
    endpointId: string,
    origin: Origin,
    decide: Decide<EndpointDocument>,
  ): Promise<StoredEndpoint | undefined> {
    const ofEndpoint = { _id: endpointId, account_id: accountId };
    const changed = await this.documents.change(ofEndpoint, origin, (before, now) => {
      const decided = decide(before, now);
      if (!decided) return undefined;
      const { status = before.status } = decided.set;
      const times = { updated_at: now, ...(status !== before.status && { status_changed_at: now }) };
      return { ...decided, set: { ...decided.set, ...times } };
    });
    return this.remember(endpointId, changed, true);
  }

  /** Keeps something with an endpoint that makes no new version of it. @returns the endpoint as it was before */
  private async note(accountId: string, endpointId: string, $set: object, only = {}) {
    const filter = { _id: endpointId, account_id: accountId, deleted_at: null, ...only };
    const before = await this.model.findOneAndUpdate(filter, { $set }, { returnDocument: 'before' }).lean();
    this.remember(endpointId, before ? { ...before, ...$set } : undefined, false);
    return before;
  }

  private remember(
    endpointId: string,
    document: EndpointDocument | undefined,
    isNewVersion: boolean,
  ): StoredEndpoint | undefined {
    const endpoint = document && this.codec.toEndpoint(document);
    this.cache.changed(endpointId, endpoint, isNewVersion);
    return endpoint;
  }

  /** Oldest first. @param limit 0: none */
  private async read(filter: Record<string, unknown>, limit = 0): Promise<StoredEndpoint[]> {
    const documents = await this.documents.find(filter).sort({ _id: 1 }).limit(limit).lean();
    return documents.map((document) => this.codec.toEndpoint(document));
  }
}
