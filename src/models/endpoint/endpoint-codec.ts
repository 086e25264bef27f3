import { LRUCache } from 'lru-cache';
import type { Filter } from '../../../packages/payload-contract/src/filter/index.js';
import { FILTER_BOUNDS } from '../../../packages/payload-contract/src/filter/index.js';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { schemeOf, verificationKey } from '../../domain/delivery/signature.js';
import {
  type DeliveryOptions,
  type DeliverySecrets,
  maskOptions,
  splitOptions,
} from '../../domain/sending/delivery-options.js';
import { withoutNulls } from '../mongo/collection.js';
import { boxOr } from '../mongo/reseal.js';
import type {
  EndpointDocument,
  EndpointInput,
  EndpointSecrets,
  SealedKey,
  SealedSecrets,
  StoredEndpoint,
} from './endpoint-document.js';

/**
 * A field that is stored encrypted. It is part of the text's context, so that the text cannot be decrypted as another
 * field.
 */
type SealedField = 'signing' | 'headers' | 'verify_token' | 'verification' | 'options';

/** Accounts whose filters, if they are as long as they may be, are remembered as objects. */
const FILTERS_KEPT = 16;

/** Turns endpoints into documents and back, and encrypts and decrypts their secrets. */
export class EndpointCodec {
  private readonly box: () => SecretBox;
  /** Decrypted secrets, as long as the endpoint that was read is in use: each attempt needs them. */
  private readonly opened = new WeakMap<SealedSecrets, EndpointSecrets>();
  /**
   * Filters by their texts. Endpoints are read every second while there are events, and a filter is compiled once for
   * as long as it is this very object. There is room for those of several accounts.
   */
  private readonly filters = new LRUCache<string, Filter>({
    maxSize: FILTERS_KEPT * FILTER_BOUNDS.sizeOfAll,
    sizeCalculation: (_, text) => text.length,
  });

  /** @param box absent in a process that neither writes endpoints nor needs their secrets */
  constructor(box: SecretBox | undefined) {
    this.box = boxOr(box, 'Secrets of endpoints need HOOKLINE_SECRET_KEYS, which is not set.');
  }

  seal(endpointId: string, field: SealedField, text: string): string {
    return this.box().seal(text, `${endpointId}:${field}`);
  }

  sealKey(endpointId: string, secret: string, created_at: Date, version: number): SealedKey {
    const key = verificationKey(secret);
    return {
      sealed: this.seal(endpointId, 'signing', secret),
      scheme: schemeOf(secret),
      ...('public_key' in key && key),
      created_at,
      version,
    };
  }

  /** Decrypts the secrets of an endpoint. */
  secretsOf({ id, sealed }: Pick<StoredEndpoint, 'id' | 'sealed'>): EndpointSecrets {
    const known = this.opened.get(sealed);
    if (known) return known;
    const secrets = this.openAll(id, sealed);
    this.opened.set(sealed, secrets);
    return secrets;
  }

  private openAll(id: string, sealed: SealedSecrets): EndpointSecrets {
    const { headers, signing_keys, verify_token, verification_token, option_secrets } = sealed;
    return {
      options: option_secrets
        ? (JSON.parse(this.open(id, 'options', option_secrets)) as DeliverySecrets)
        : {},
      headers: headers ? (JSON.parse(this.open(id, 'headers', headers)) as Record<string, string>) : {},
      signing_keys: signing_keys.map(({ sealed: text, created_at, expires_at, version }) => ({
        secret: this.open(id, 'signing', text),
        created_at: created_at.toISOString(),
        ...(expires_at && { expires_at: expires_at.toISOString() }),
        ...(version && { version }),
      })),
      ...(verify_token && { verify_token: this.open(id, 'verify_token', verify_token) }),
      ...(verification_token && { verification_token: this.open(id, 'verification', verification_token) }),
    };
  }

  /** Whether any secret of an endpoint was encrypted with another key than the newest. */
  isOutdated(document: EndpointDocument): boolean {
    const { headers, verify_token, verification_token, option_secrets, signing_keys } = document;
    const sealedKeys = signing_keys.map(({ sealed }) => sealed);
    const texts = [headers, verify_token, verification_token, option_secrets, ...sealedKeys];
    return texts.some((text) => text && this.box().isOutdated(text));
  }

  /** The secrets of an endpoint, encrypted with the newest key. */
  reseal(document: EndpointDocument) {
    const { _id, headers, verify_token, verification_token, option_secrets, signing_keys } = document;
    const again = (text: string | null | undefined, field: SealedField) =>
      text ? this.seal(_id, field, this.open(_id, field, text)) : undefined;
    const fields = {
      headers: again(headers, 'headers'),
      verify_token: again(verify_token, 'verify_token'),
      verification_token: again(verification_token, 'verification'),
      option_secrets: again(option_secrets, 'options'),
      signing_keys: signing_keys.map((key) => ({ ...key, sealed: again(key.sealed, 'signing') ?? '' })),
    };
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  }

  toFields(id: string, { filter, headers, metadata, verify_token, ...rest }: EndpointInput) {
    const header_names = Object.keys(headers);
    const { options, rest: plain } = splitOptions(rest);
    const { shown, secrets } = maskOptions(options);
    return {
      ...plain,
      options: textOf(shown),
      option_secrets: textOf(secrets) && this.seal(id, 'options', JSON.stringify(secrets)),
      filter: filter && JSON.stringify(filter),
      metadata: JSON.stringify(metadata),
      header_names,
      headers: header_names.length > 0 ? this.seal(id, 'headers', JSON.stringify(headers)) : undefined,
      verify_token: verify_token && this.seal(id, 'verify_token', verify_token),
      legacy_header_prefix: plain.legacy_header_prefix,
      rate_limit: plain.rate_limit,
      ordering: plain.ordering,
      order_skip: plain.order_skip,
      order_skip_after: plain.order_skip_after,
      status_reason: plain.status_reason,
      retry_schedule: plain.retry_schedule,
    };
  }

  toEndpoint(document: EndpointDocument): StoredEndpoint {
    const { filter, signing_keys, headers, verify_token, verification_token, option_secrets } = document;
    const { failing, verified_url, allowed_rate, retry_schedule, legacy_header_prefix } = document;
    const { ordering, order_skip, order_skip_after } = document;
    return {
      id: document._id,
      account_id: document.account_id,
      version: document.version,
      verification_revision: document.verification_revision,
      target_url: document.target_url,
      ...(document.listener && { listener: true }),
      ...(document.inbox && { inbox: true }),
      event_kinds: document.event_kinds,
      ...(filter && { filter: this.filterOf(filter) }),
      description: document.description,
      metadata: JSON.parse(document.metadata) as Record<string, string>,
      header_names: document.header_names,
      ...(document.rate_limit && { rate_limit: document.rate_limit }),
      status: document.status,
      ...(document.status_reason && { status_reason: document.status_reason }),
      status_changed_at: document.status_changed_at.toISOString(),
      status_when_verified: document.status_when_verified,
      verification_method: document.verification_method,
      ...(document.verified_at && { verified_at: document.verified_at.toISOString() }),
      ...withoutNulls({ failing, verified_url, allowed_rate, retry_schedule, legacy_header_prefix }),
      ...(document.options && (JSON.parse(document.options) as DeliveryOptions)),
      ...withoutNulls({ ordering, order_skip, order_skip_after }),
      created_at: document.created_at.toISOString(),
      updated_at: document.updated_at.toISOString(),
      sealed: {
        signing_keys,
        ...withoutNulls({ headers, verify_token, verification_token, option_secrets }),
      },
    };
  }

  private filterOf(text: string): Filter {
    const known = this.filters.get(text);
    if (known) return known;
    const filter = JSON.parse(text) as Filter;
    this.filters.set(text, filter);
    return filter;
  }

  private open(endpointId: string, field: SealedField, text: string): string {
    return this.box().open(text, `${endpointId}:${field}`);
  }
}

/** An object as JSON; `undefined` if it has no members. */
function textOf(object: object): string | undefined {
  return Object.keys(object).length > 0 ? JSON.stringify(object) : undefined;
}
