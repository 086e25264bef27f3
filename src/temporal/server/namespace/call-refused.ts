/** gRPC codes, https://grpc.io/docs/guides/status-codes/ */
export const NOT_VALID = 3;
export const NOT_FOUND = 5;
export const ALREADY_EXISTS = 6;
const PERMISSION_DENIED = 7;
const UNIMPLEMENTED = 12;
const UNAUTHENTICATED = 16;

/** Whether Temporal answered a call with this code. */
export function hasCode(error: unknown, ...codes: number[]): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'number' && codes.includes(error.code)
  );
}

/** Whether Temporal does not let this caller make a call, or has no such call: as Temporal Cloud, where namespaces are made by other means. */
export function isRefusal(error: unknown): boolean {
  return hasCode(error, PERMISSION_DENIED, UNIMPLEMENTED);
}

/** Whether Temporal does not know the caller, or does not let it see what it asks for. */
export function isStranger(error: unknown): boolean {
  return hasCode(error, PERMISSION_DENIED, UNAUTHENTICATED);
}
