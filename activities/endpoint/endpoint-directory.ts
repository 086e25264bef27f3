import type { DeliveryTarget } from '../../src/domain/delivery/delivery.js';
import type { SigningKey } from '../../src/domain/delivery/signature.js';
import type { FailingMark } from '../../src/domain/endpoint/breaker/circuit-breaker.js';
import type { DisableResult, Endpoint } from '../../src/domain/endpoint/endpoint.js';
import type { OrderRule } from '../../src/domain/event/ordering.js';
import type { DeliveryOptions, DeliverySecrets } from '../../src/domain/sending/delivery-options.js';

/** Secrets that sign and accompany a request to an endpoint. They stay inside the activity. */
export interface RequestSecrets {
  /** Sent with the request. */
  headers: Readonly<Record<string, string>>;
  /** Newest first. */
  signing_keys: readonly SigningKey[];
  /** Secrets that the delivery options mask. */
  options: DeliverySecrets;
}

/** Fields of an endpoint that an attempt needs. */
export interface EndpointForAttempt
  extends Pick<
      Endpoint,
      | 'version'
      | 'target_url'
      | 'listener'
      | 'inbox'
      | 'status'
      | 'status_reason'
      | 'rate_limit'
      | 'legacy_header_prefix'
      | keyof DeliveryOptions
    >,
    OrderRule {
  /** The version since which it has had its URL. */
  verification_revision: number;
  /** It has been failing. */
  failing?: FailingMark;
  /** Decrypts what the request needs: called once the attempt is certain to be made. */
  secrets(): RequestSecrets;
}

/**
 * The attempt that an endpoint is disabled because of: `attemptName`, and the address that answered it, if that is
 * known.
 */
export interface DisablingAttempt {
  name: string;
  address?: string | undefined;
}

/** The stored endpoints. */
export interface EndpointDirectory {
  /** The endpoint as it was a second ago at most; `undefined` if it was deleted. */
  load(accountId: string, endpointId: string): Promise<EndpointForAttempt | undefined>;
  /** The same as it is now, for what is not looked at again. */
  loadFresh(accountId: string, endpointId: string): Promise<EndpointForAttempt | undefined>;
  /** Records that an endpoint is failing, or, with `null`, that it is not. @returns the mark that it had */
  setFailing(
    accountId: string,
    endpointId: string,
    failing: FailingMark | null,
  ): Promise<FailingMark | undefined>;
  /**
   * Takes an active endpoint out of service.
   *
   * @param cause what does so
   * @param verificationRevision of the endpoint that the cause is about; absent if it is about the endpoint whatever
   * its URL is
   * @param attempt that it is done because of
   */
  disable(
    accountId: string,
    endpointId: string,
    reason: string,
    cause: string,
    verificationRevision: number | undefined,
    attempt?: DisablingAttempt,
  ): Promise<DisableResult>;
  /** The endpoints that an operational event goes to. `payload`: parsed. */
  watchers(accountId: string, kind: string, payload: unknown): Promise<DeliveryTarget[]>;
  /** Whether any endpoint of the account is registered for an operational kind. */
  isWatched(accountId: string, kind: string): Promise<boolean>;
  /** Removes signing secrets whose overlap has ended. @returns when the next one ends, milliseconds since the epoch */
  retireSecrets(accountId: string, endpointId: string): Promise<number | undefined>;
}
