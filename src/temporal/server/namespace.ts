import { setTimeout } from 'node:timers/promises';
import { UNITS } from '../../domain/basics/duration.js';
import { SEARCH_ATTRIBUTES } from '../../domain/ledger/search-attributes.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { GRPC, type GrpcCode, hasCode } from '../errors.js';
import type { TemporalConnection } from './connection.js';
import {
  type Administration,
  administrationLines,
  type NamespaceSettings,
  retentionLine,
} from './namespace/administration.js';
import { missingAttributes, REFUSED, typeNumber } from './namespace/search-attributes.js';

const USABLE_WITHIN_MS = UNITS.m;
const POLL_MS = 200;
const DAY_S = UNITS.d / UNITS.s;

/**
 * Creates the namespace with its retention and search attributes, or updates an existing one. It may be called any
 * number of times, by several processes at once. Where the server does not let this caller do so, such as Temporal
 * Cloud, it is checked that somebody else has.
 *
 * @param report receives lines about what is not as it should be, and works all the same
 * @throws AdministrationNeededError with the commands for what is missing, where the server refuses them here
 */
export async function prepareNamespace(
  connection: TemporalConnection,
  settings: NamespaceSettings,
  report: (line: string) => void = () => {},
): Promise<void> {
  const { name } = settings;
  const absent = { ...settings, isAbsent: true, attributes: SEARCH_ATTRIBUTES };
  const notKnown = [GRPC.permissionDenied, GRPC.unauthenticated] as const;
  const current = await retentionOf(connection, name).catch(unless(notKnown, absent));
  if (current === undefined) await register(connection, settings).catch(unless(REFUSED, absent));
  else if (current !== settings.retentionDays) await changeRetention(connection, settings, current, report);
  // A cluster knows a new namespace a little after it has accepted it.
  const attributes = await soon(
    () => missingAttributes(connection, name),
    (error) => hasCode(error, GRPC.notFound),
  );
  if (attributes.length > 0) {
    const searchAttributes = Object.fromEntries(attributes.map((one) => [one.name, typeNumber(one)]));
    await connection.native.operatorService
      .addSearchAttributes({ namespace: name, searchAttributes })
      .catch(unless(REFUSED, { ...settings, isAbsent: false, attributes }));
  }
  // A cluster can use new search attributes a little after it has accepted them.
  const query = SEARCH_ATTRIBUTES.map((attribute) => `${attribute.name} IS NULL`).join(' AND ');
  await soon(() => connection.client.workflowService.countWorkflowExecutions({ namespace: name, query }));
}

/**
 * Checks that a namespace has been prepared for this version.
 *
 * @throws NamespaceNotPreparedError that says what is missing
 */
export async function requirePreparedNamespace(connection: TemporalConnection, name: string): Promise<void> {
  const missing = await missingAttributes(connection, name).catch((error: unknown) => {
    if (hasCode(error, GRPC.notFound))
      throw new NamespaceNotPreparedError(`Temporal has no namespace "${name}"`);
    throw error;
  });
  if (missing.length === 0) return;
  const names = missing.map((attribute) => attribute.name).join(', ');
  throw new NamespaceNotPreparedError(`The namespace "${name}" lacks the search attributes ${names}`);
}

/** Temporal has not been prepared for this version. */
class NamespaceNotPreparedError extends Error {
  constructor(what: string) {
    super(`${what}. Run "hookline migrate", then start again.`);
    this.name = 'NamespaceNotPreparedError';
  }
}

/** The server does not let this caller make what is missing; the message has the commands for somebody who may. */
class AdministrationNeededError extends Error {
  /** As they are shown: there are commands to paste. */
  readonly lines: readonly string[] = this.message.split('\n');

  constructor(needed: Administration) {
    const what = needed.isAbsent
      ? `There is no namespace "${needed.name}", or it is not for this key or certificate to see`
      : `The namespace "${needed.name}" lacks search attributes`;
    const lines = administrationLines(needed).map((line) => (line === '' ? '' : `  ${line}`));
    super(
      `${what}, and Temporal does not let this caller make them. Have somebody do it who may, then run "hookline migrate" again:\n\n${lines.join('\n')}`,
    );
    this.name = 'AdministrationNeededError';
  }
}

/** For a call that the server may refuse here with some codes: somebody else has to make what is needed then. */
function unless(codes: readonly GrpcCode[], needed: Administration) {
  return (error: unknown): never => {
    throw hasCode(error, ...codes) ? new AdministrationNeededError(needed) : error;
  };
}

/** The retention of the namespace, days; nothing if there is no such namespace. */
async function retentionOf({ native }: TemporalConnection, namespace: string): Promise<number | undefined> {
  try {
    const { config } = await native.workflowService.describeNamespace({ namespace });
    return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / DAY_S;
  } catch (error) {
    if (hasCode(error, GRPC.notFound)) return undefined;
    throw error;
  }
}

async function register({ native }: TemporalConnection, settings: NamespaceSettings): Promise<void> {
  try {
    await native.workflowService.registerNamespace({
      namespace: settings.name,
      workflowExecutionRetentionPeriod: secondsOf(settings.retentionDays),
    });
  } catch (error) {
    // Another process was quicker.
    if (!hasCode(error, GRPC.alreadyExists)) throw error;
  }
}

async function changeRetention(
  { native }: TemporalConnection,
  settings: NamespaceSettings,
  current: number,
  report: (line: string) => void,
): Promise<void> {
  const { name, retentionDays } = settings;
  try {
    await native.workflowService.updateNamespace({
      namespace: name,
      config: { workflowExecutionRetentionTtl: secondsOf(retentionDays) },
    });
  } catch (error) {
    if (!hasCode(error, ...REFUSED)) throw error;
    report(
      `Temporal: the namespace "${name}" keeps what is closed for ${current} days, and HOOKLINE_RETENTION_DAYS is ${retentionDays}. Change that setting, or run: ${retentionLine(settings)}`,
    );
  }
}

/** Tries until it succeeds, or a minute is over. @param isTemporary whether an error may pass */
async function soon<T>(
  attempt: () => Promise<T>,
  isTemporary: (error: unknown) => boolean = () => true,
): Promise<T> {
  const deadline = sharedNow() + USABLE_WITHIN_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (sharedNow() > deadline || !isTemporary(error)) throw error;
      await setTimeout(POLL_MS);
    }
  }
}

/** As the API takes a duration: the types want a library's own integers, the encoding does not. */
function secondsOf(days: number): never {
  return { seconds: days * DAY_S } as never;
}
