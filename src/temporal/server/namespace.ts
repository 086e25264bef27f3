import { setTimeout } from 'node:timers/promises';
import { SEARCH_ATTRIBUTES } from '../../domain/ledger/search-attributes.js';
import type { TemporalConnection } from './connection.js';
import { type Administration, administrationLines, retentionLine } from './namespace/administration.js';
import { ALREADY_EXISTS, hasCode, isRefusal, isStranger, NOT_FOUND } from './namespace/call-refused.js';
import { missingAttributes, type NeededAttribute, typeNumber } from './namespace/search-attributes.js';

const USABLE_WITHIN_MS = 60_000;
const POLL_MS = 200;
const DAY_S = 86_400;

/** What a namespace must have before Hookline runs in it. */
export interface NamespaceSettings {
  name: string;
  /** How long closed executions stay readable, in days. */
  retentionDays: number;
  /** `host:port` of the server: it tells which commands are for it. */
  address: string;
}

/**
 * Creates the namespace with its retention and search attributes, or updates an existing one. It may be called any number of times, by
 * several processes at once. Where the server does not let this caller do so, such as Temporal Cloud, it is checked that somebody else has.
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
  const current = await retentionOf(connection, settings);
  if (current === undefined) await register(connection, settings);
  else if (current !== settings.retentionDays) await changeRetention(connection, settings, current, report);
  const missing = await missingSoon(connection, name);
  if (missing.length > 0) await addAttributes(connection, settings, missing);
  await soon(() => countWith(connection, name));
}

/**
 * Checks that a namespace has been prepared for this version.
 *
 * @throws NamespaceNotPreparedError that says what is missing
 */
export async function requirePreparedNamespace(connection: TemporalConnection, name: string): Promise<void> {
  const missing = await missingAttributes(connection, name).catch((error: unknown) => {
    if (hasCode(error, NOT_FOUND)) throw new NamespaceNotPreparedError(`Temporal has no namespace "${name}"`);
    throw error;
  });
  if (missing.length === 0) return;
  const names = missing.map((attribute) => attribute.name).join(', ');
  throw new NamespaceNotPreparedError(`The namespace "${name}" lacks the search attributes ${names}`);
}

/** Temporal has not been prepared for this version. */
export class NamespaceNotPreparedError extends Error {
  constructor(what: string) {
    super(`${what}. Run "hookline migrate", then start again.`);
    this.name = 'NamespaceNotPreparedError';
  }
}

/** The server does not let this caller make what is missing; the message has the commands for somebody who may. */
export class AdministrationNeededError extends Error {
  constructor(needed: Administration, address: string) {
    const what = needed.isAbsent
      ? `There is no namespace "${needed.namespace}", or it is not for this key or certificate to see`
      : `The namespace "${needed.namespace}" lacks search attributes`;
    const lines = administrationLines(needed, address).map((line) => (line === '' ? '' : `  ${line}`));
    super(
      `${what}, and Temporal does not let this caller make them. Have somebody do it who may, then run "hookline migrate" again:\n\n${lines.join('\n')}`,
    );
    this.name = 'AdministrationNeededError';
  }
}

/** The retention of the namespace, days; nothing if there is no such namespace. */
async function retentionOf(
  { native }: TemporalConnection,
  { name, address, retentionDays }: NamespaceSettings,
): Promise<number | undefined> {
  try {
    const { config } = await native.workflowService.describeNamespace({ namespace: name });
    return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / DAY_S;
  } catch (error) {
    if (hasCode(error, NOT_FOUND)) return undefined;
    if (!isStranger(error)) throw error;
    throw new AdministrationNeededError(
      { namespace: name, isAbsent: true, attributes: SEARCH_ATTRIBUTES, retentionDays },
      address,
    );
  }
}

async function register({ native }: TemporalConnection, settings: NamespaceSettings): Promise<void> {
  const { name, retentionDays, address } = settings;
  try {
    await native.workflowService.registerNamespace({
      namespace: name,
      workflowExecutionRetentionPeriod: secondsOf(retentionDays),
    });
  } catch (error) {
    // Another process was quicker.
    if (hasCode(error, ALREADY_EXISTS)) return;
    if (!isRefusal(error)) throw error;
    throw new AdministrationNeededError(
      { namespace: name, isAbsent: true, attributes: SEARCH_ATTRIBUTES, retentionDays },
      address,
    );
  }
}

async function changeRetention(
  { native }: TemporalConnection,
  { name, retentionDays, address }: NamespaceSettings,
  current: number,
  report: (line: string) => void,
): Promise<void> {
  try {
    await native.workflowService.updateNamespace({
      namespace: name,
      config: { workflowExecutionRetentionTtl: secondsOf(retentionDays) },
    });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const line = retentionLine({ namespace: name, isAbsent: false, attributes: [], retentionDays }, address);
    report(
      `Temporal: the namespace "${name}" keeps what is closed for ${current} days, and HOOKLINE_RETENTION_DAYS is ${retentionDays}. Change that setting, or run: ${line}`,
    );
  }
}

async function addAttributes(
  { native }: TemporalConnection,
  { name, address, retentionDays }: NamespaceSettings,
  attributes: readonly NeededAttribute[],
): Promise<void> {
  try {
    await native.operatorService.addSearchAttributes({
      namespace: name,
      searchAttributes: Object.fromEntries(
        attributes.map((attribute) => [attribute.name, typeNumber(attribute)]),
      ),
    });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    throw new AdministrationNeededError(
      { namespace: name, isAbsent: false, attributes, retentionDays },
      address,
    );
  }
}

/** A cluster knows a new namespace a little after it has accepted it. */
function missingSoon(connection: TemporalConnection, name: string): Promise<NeededAttribute[]> {
  return soon(
    () => missingAttributes(connection, name),
    (error) => hasCode(error, NOT_FOUND),
  );
}

/** A cluster can use new search attributes a little after it has accepted them. */
async function countWith({ client }: TemporalConnection, namespace: string): Promise<void> {
  const query = SEARCH_ATTRIBUTES.map(({ name }) => `${name} IS NULL`).join(' AND ');
  await client.workflowService.countWorkflowExecutions({ namespace, query });
}

/** Tries until it succeeds, or a minute is over. @param isTemporary whether an error may pass */
async function soon<T>(
  attempt: () => Promise<T>,
  isTemporary: (error: unknown) => boolean = () => true,
): Promise<T> {
  const deadline = Date.now() + USABLE_WITHIN_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline || !isTemporary(error)) throw error;
      await setTimeout(POLL_MS);
    }
  }
}

/** As the API takes a duration: the types want a library's own integers, the encoding does not. */
function secondsOf(days: number): never {
  return { seconds: days * DAY_S } as never;
}
