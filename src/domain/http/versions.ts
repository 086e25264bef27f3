import { Problem } from './problem.js';

/** A released version of the HTTP interface. */
export interface ApiVersion {
  /** As it is written in paths: `v18.0`. */
  name: string;
  /** When it was declared deprecated; sent as `Deprecation` (RFC 9745). */
  deprecatedAt?: Date;
  /** When it will be withdrawn; sent as `Sunset` (RFC 8594). */
  sunsetAt?: Date;
}

/** Every version that works, newest first. The one place where a version is released, deprecated or withdrawn. */
export const VERSIONS: readonly ApiVersion[] = [{ name: 'v18.0' }];

/** The version to use. */
export const CURRENT_VERSION = 'v18.0';

/**
 * Address of something in the API.
 *
 * @param publicUrl the address of the API as subscribers see it; without it, the address is a path
 * @param path behind the version
 */
export function apiUrl(publicUrl: string | undefined, path: string): string {
  return `${publicUrl?.replace(/\/$/, '') ?? ''}/${CURRENT_VERSION}${path}`;
}

/** Major versions below this one have been withdrawn. */
const FIRST_LIVING_MAJOR = 18;

const SEGMENT = /^v(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,3})$/;

/**
 * The version that a path's first segment names.
 *
 * @throws Problem 410 for a withdrawn version, 404 for an unknown or missing one, both naming the current one
 */
export function resolveVersion(segment: string): ApiVersion {
  const version = VERSIONS.find((known) => known.name === segment);
  if (version) return version;
  const match = SEGMENT.exec(segment);
  if (match && Number(match[1]) < FIRST_LIVING_MAJOR) {
    throw new Problem('version_withdrawn', `Version ${segment} has been withdrawn. Use ${CURRENT_VERSION}.`);
  }
  if (match) {
    throw new Problem('version_unknown', `Version ${segment} does not exist. Use ${CURRENT_VERSION}.`);
  }
  throw new Problem(
    'not_found',
    `There is nothing at this path. Paths of the API begin with the version: /${CURRENT_VERSION}/…`,
  );
}

/** Headers of every response of a version that will be withdrawn: RFC 9745 and RFC 8594. */
export function announcements({ deprecatedAt, sunsetAt }: ApiVersion): Record<string, string> {
  return {
    ...(deprecatedAt && { deprecation: `@${Math.floor(deprecatedAt.getTime() / 1_000)}` }),
    ...(sunsetAt && { sunset: sunsetAt.toUTCString() }),
  };
}
