import type { Connection } from 'mongoose';
import type { Account, AccountLimits, AccountStatus } from '../../domain/access/account.js';
import type { AccountDeletion, PayloadRule } from '../../domain/access/account-deletion.js';
import { newId } from '../../domain/basics/ids.js';
import { present } from '../../domain/basics/objects.js';
import { type Origin, systemOrigin } from '../../domain/change/change.js';
import type { PortalLook } from '../../domain/look/portal-look.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import type { Timings } from '../../domain/timings.js';
import { recordedFields } from '../change/change-document.js';
import type { ChangeRepository } from '../change/changes.js';
import { Recorded } from '../change/recorded.js';
import { collection, type DocumentIn, may, must, withoutNulls } from '../mongo/collection.js';
import { escapeRegex } from '../mongo/escape-regex.js';
import { ShortCache } from '../mongo/short-cache.js';
import { AccountReferences } from './account-references.js';
import type { ProfileRepository } from './profiles.js';

const accounts = collection(
  'accounts',
  {
    _id: must(String),
    name: must(String),
    platform_id: may(String),
    reference: may(String),
    requests_per_minute: may(Number),
    events_per_minute: may(Number),
    max_endpoints: may(Number),
    portal_name: may(String),
    portal_logo_url: may(String),
    portal_color: may(String),
    /** Absent: active. */
    status: may<Exclude<AccountStatus, 'active'>>(String),
    deletion_requested_at: may(Date),
    erasure_requested_at: may(Date),
    /** `deleted_at` would remove the document. */
    closed_at: may(Date),
    /** Result of its deletion: JSON. */
    deletion: may(String),
    created_at: must(Date),
    ...recordedFields,
  },
  { indexes: [{ platform_id: 1, _id: 1 }] },
);
type AccountDocument = DocumentIn<typeof accounts>;

/** Fields of a new account besides its name. */
export interface AccountInput {
  id?: string;
  platform_id?: string | undefined;
  limits?: AccountLimits | undefined;
  portal?: PortalLook | undefined;
}

/** Fields of an account that can be changed. `null` removes; what is not named stays. */
export interface AccountChange {
  name?: string | undefined;
  reference?: string | null | undefined;
  limits?: { [Name in keyof AccountLimits]?: number | null | undefined } | undefined;
  portal?: { [Name in keyof PortalLook]?: string | null | undefined } | undefined;
}

/** Which accounts a list has. */
export interface AccountFilter {
  /** Only those of this platform; absent: all. */
  platform_id?: string | undefined;
  reference?: string | undefined;
}

export class AccountRepository {
  private readonly documents: Recorded<AccountDocument>;
  private readonly profiles: ProfileRepository;
  private readonly references: AccountReferences;
  private readonly byId: ShortCache<Account | undefined>;
  private readonly byReference: ShortCache<Account | undefined>;

  constructor(
    connection: Connection,
    profiles: ProfileRepository,
    changes: ChangeRepository,
    { resource_lifetime_ms }: Timings,
  ) {
    this.byId = new ShortCache(resource_lifetime_ms);
    this.byReference = new ShortCache(resource_lifetime_ms);
    this.documents = new Recorded(accounts(connection), changes, {
      kind: 'account',
      accountField: '_id',
      show: toAccount,
    });
    this.profiles = profiles;
    this.references = new AccountReferences(connection);
  }

  /** Makes an account, with the profile that its own keys use. */
  async create(name: string, origin: Origin, input: AccountInput = {}): Promise<Account> {
    const document = await this.insert(name, origin, input);
    return toAccount(document);
  }

  /** Makes an account that its platform calls by a reference. @returns `undefined` if the reference is taken */
  async createNamed(
    name: string,
    reference: string,
    origin: Origin,
    { id = newId('account'), ...input }: AccountInput,
  ): Promise<Account | undefined> {
    const free = await this.claim(id, input.platform_id, reference);
    return free ? toAccount(await this.insert(name, origin, { ...input, id, reference })) : undefined;
  }

  private async insert(
    name: string,
    origin: Origin,
    { id = newId('account'), platform_id, reference, limits, portal }: AccountInput & { reference?: string },
  ): Promise<AccountDocument> {
    await this.profiles.createOwn(id, name, origin);
    return this.documents.create(
      {
        _id: id,
        name,
        created_at: sharedDate(),
        ...withoutNulls({ platform_id, reference }),
        ...limits,
        ...storedLook(portal),
      },
      origin,
    );
  }

  /** An account as it is in the database; `undefined` if there is none with that id. */
  async get(accountId: string): Promise<Account | undefined> {
    const document = await this.documents.findOne({ _id: accountId });
    return document ? toAccount(document) : undefined;
  }

  /** As {@link get}, up to a second old: what each request needs. */
  current(accountId: string): Promise<Account | undefined> {
    return this.byId.get(accountId, () => this.get(accountId));
  }

  /**
   * The account that a platform calls by a reference, up to a second old.
   *
   * @param platformId absent: of accounts without a platform
   */
  ofReference(platformId: string | undefined, reference: string): Promise<Account | undefined> {
    const key = referenceKey(platformId, reference);
    return this.byReference.get(key, async () => {
      const holder = await this.references.holder(key);
      const account = holder === undefined ? undefined : await this.get(holder);
      return account && isNamed(account, platformId, reference) ? account : undefined;
    });
  }

  /** Accounts, oldest first, after the one named. */
  async list(limit: number, after?: string, filter: AccountFilter = {}): Promise<Account[]> {
    return (await this.documents.page(withoutNulls(filter), limit, after)).map(toAccount);
  }

  /** The names of some accounts, by id. */
  async names(accountIds: readonly string[]): Promise<Map<string, string>> {
    if (accountIds.length === 0) return new Map();
    const documents = await this.documents
      .find({ _id: { $in: [...new Set(accountIds)] } })
      .select({ name: 1 })
      .lean();
    return new Map(documents.map(({ _id, name }) => [_id, name]));
  }

  /** Accounts whose name contains a text, whatever its case, or whose reference it is; oldest first. */
  async matching(text: string, limit: number): Promise<Account[]> {
    const asked = { $or: [{ name: { $regex: escapeRegex(text), $options: 'i' } }, { reference: text }] };
    return (await this.documents.page(asked, limit)).map(toAccount);
  }

  /**
   * Changes an account that is active.
   *
   * @param version the version that the caller has seen
   * @returns `undefined` if it is not active, or has another version
   */
  async change(
    accountId: string,
    { name, reference, limits, portal }: AccountChange,
    version: number,
    origin: Origin,
  ): Promise<Account | 'reference_taken' | undefined> {
    const { platform_id, reference: former } = (await this.get(accountId)) ?? {};
    const isNew = typeof reference === 'string' && reference !== former;
    if (isNew && !(await this.claim(accountId, platform_id, reference))) return 'reference_taken';
    const changed = await this.documents.change({ _id: accountId }, origin, (before) =>
      before.version === version && !before.status
        ? {
            action: 'updated',
            set: {
              ...(name !== undefined && { name }),
              ...(reference !== undefined && { reference }),
              ...limits,
              ...storedLook(portal),
            },
          }
        : undefined,
    );
    this.forget(accountId);
    // A claim is kept if nothing was changed: a change at the same time may have given the account this reference. If
    // none has, it runs out.
    if (changed && former !== undefined && former !== changed.reference)
      await this.references.release(referenceKey(platform_id, former), accountId);
    return changed && toAccount(changed);
  }

  /**
   * Marks an account as being deleted: from now on it accepts nothing. One that is deleted already can still be asked
   * to erase its payloads.
   */
  async beginDeletion(accountId: string, origin: Origin, payloads: PayloadRule = 'keep'): Promise<void> {
    await this.documents.change({ _id: accountId }, origin, ({ status, erasure_requested_at }, now) => {
      const isNew = payloads === 'erase' && !erasure_requested_at;
      const erasure = isNew && { erasure_requested_at: now };
      if (!status)
        return {
          action: 'deleted',
          set: { status: 'deleting', deletion_requested_at: now, ...erasure },
        };
      return erasure ? { action: 'updated', set: erasure } : undefined;
    });
    this.forget(accountId);
  }

  /** Marks an account as deleted, and its payloads as erased. Its record stays; its reference can be used again. */
  async endDeletion(accountId: string, deletion: AccountDeletion): Promise<void> {
    const changed = await this.documents.change(
      { _id: accountId },
      systemOrigin('deletion'),
      (before, now) => {
        if (before.status !== 'deleted')
          return {
            action: 'updated',
            set: { status: 'deleted', closed_at: now, deletion: JSON.stringify(deletion) },
          };
        const { keys_erased } = deletion;
        const known = JSON.parse(before.deletion ?? '{}') as Partial<AccountDeletion>;
        if (keys_erased === undefined || known.keys_erased !== undefined) return undefined;
        return { action: 'updated', set: { deletion: JSON.stringify({ ...known, keys_erased }) } };
      },
    );
    this.forget(accountId);
    const { platform_id, reference } = changed ?? {};
    if (reference)
      await this.references.release(referenceKey(platform_id ?? undefined, reference), accountId);
  }

  /** The accounts whose payloads were to be erased with them. */
  async *erased(): AsyncIterable<Account> {
    for await (const account of this.documents
      .find({ erasure_requested_at: { $ne: null } })
      .lean()
      .cursor())
      yield toAccount(account as AccountDocument);
  }

  /** Whether a platform has accounts that are not deleted. */
  async hasAccounts(platformId: string): Promise<boolean> {
    return (await this.documents.findOne({ platform_id: platformId, closed_at: null })) !== undefined;
  }

  private claim(accountId: string, platformId: string | undefined, reference: string): Promise<boolean> {
    return this.references.claim(referenceKey(platformId, reference), accountId, async (holder) => {
      const account = await this.get(holder);
      return account !== undefined && isNamed(account, platformId, reference);
    });
  }

  private forget(accountId: string): void {
    this.byId.forget(accountId);
    this.byReference.clear();
  }
}

/** Whether that is what a platform calls the account now. An account that was deleted has given its reference back. */
function isNamed(account: Account, platformId: string | undefined, reference: string): boolean {
  return (
    account.status !== 'deleted' && account.platform_id === platformId && account.reference === reference
  );
}

function referenceKey(platformId: string | undefined, reference: string): string {
  return `${platformId ?? ''}:${reference}`;
}

function storedLook({ name, logo_url, color }: NonNullable<AccountChange['portal']> = {}) {
  return present({ portal_name: name, portal_logo_url: logo_url, portal_color: color });
}

function toAccount(document: AccountDocument): Account {
  const { _id, name, platform_id, reference, status, created_at, version } = document;
  const { requests_per_minute, events_per_minute, max_endpoints } = document;
  const { portal_name, portal_logo_url, portal_color } = document;
  const { deletion_requested_at, erasure_requested_at, closed_at, deletion } = document;
  const portal = withoutNulls({ name: portal_name, logo_url: portal_logo_url, color: portal_color });
  return {
    id: _id,
    name,
    ...withoutNulls({ platform_id, reference }),
    limits: withoutNulls({ requests_per_minute, events_per_minute, max_endpoints }),
    ...(Object.keys(portal).length > 0 && { portal }),
    status: status ?? 'active',
    created_at: created_at.toISOString(),
    ...withoutNulls({
      deletion_requested_at: deletion_requested_at?.toISOString(),
      erasure_requested_at: erasure_requested_at?.toISOString(),
      deleted_at: closed_at?.toISOString(),
    }),
    ...(deletion && { deletion: JSON.parse(deletion) as AccountDeletion }),
    version,
  };
}
