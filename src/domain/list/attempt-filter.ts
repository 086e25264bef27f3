import ipaddr from 'ipaddr.js';
import { inAny, type Network } from '../../../packages/egress/src/addresses/index.js';
import type { Attempt, AttemptErrorCode } from '../attempt/attempt.js';

/** Filter by single attempts of a delivery, in whichever of its runs. One attempt must match all that is given. */
export interface AttemptFilter {
  /** It connected to an address in one of these. */
  within?: readonly Network[] | undefined;
  /** It connected to an address in none of these. */
  outside?: readonly Network[] | undefined;
  /** It took longer, milliseconds. */
  longer_than_ms?: number | undefined;
  error_code?: AttemptErrorCode | undefined;
  status_code?: number | undefined;
}

type Facts = Pick<Attempt, 'address' | 'duration_ms' | 'error_code' | 'status_code'>;

/**
 * Whether an attempt is one that is asked for. One that connected to nothing is neither within networks nor outside.
 */
export function isAsked(attempt: Facts, filter: AttemptFilter): boolean {
  const { within, outside, longer_than_ms, error_code, status_code } = filter;
  return (
    (error_code === undefined || attempt.error_code === error_code) &&
    (status_code === undefined || attempt.status_code === status_code) &&
    (longer_than_ms === undefined || attempt.duration_ms > longer_than_ms) &&
    ((!within && !outside) || isReached(attempt.address, within, outside))
  );
}

function isReached(
  text: string | undefined,
  within: readonly Network[] | undefined,
  outside: readonly Network[] | undefined,
): boolean {
  if (text === undefined || !ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  return (!within || inAny(address, within)) && (!outside || !inAny(address, outside));
}

/** Facts of a delivery's attempts that stand in its row beside the record, so that few deliveries have to be read. */
export interface AttemptSums {
  /** HTTP statuses and error codes of all attempts, each once. */
  results?: readonly string[] | undefined;
  /** The longest of them, milliseconds. */
  longest_ms?: number | undefined;
}

/** @param attempts of all runs */
export function sumsOf(attempts: readonly Facts[]): AttemptSums {
  if (attempts.length === 0) return {};
  return {
    results: [
      ...new Set(attempts.map(({ status_code, error_code }) => String(status_code ?? error_code))),
    ].sort(),
    longest_ms: Math.max(...attempts.map(({ duration_ms }) => duration_ms)),
  };
}
