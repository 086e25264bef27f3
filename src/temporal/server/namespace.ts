import { setTimeout } from 'node:timers/promises';
import { SearchAttributeType } from '@temporalio/common';
import proto from '@temporalio/proto';
import { SEARCH_ATTRIBUTES } from '../../domain/ledger/search-attributes.js';
import type { TemporalConnection } from './connection.js';

const { IndexedValueType } = proto.temporal.api.enums.v1;
const INDEXED_TYPES = {
  [SearchAttributeType.KEYWORD]: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  [SearchAttributeType.KEYWORD_LIST]: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
  [SearchAttributeType.BOOL]: IndexedValueType.INDEXED_VALUE_TYPE_BOOL,
  [SearchAttributeType.DATETIME]: IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
} as const;

const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const USABLE_WITHIN_MS = 60_000;
const POLL_MS = 200;

/** What a namespace must have before Hookline runs in it. */
export interface NamespaceSettings {
  name: string;
  /** How long closed executions stay readable, in days. */
  retentionDays: number;
}

/**
 * Creates the namespace with its retention and search attributes, or updates an existing one. It may be called any number of times, by
 * several processes at once.
 */
export async function prepareNamespace(
  connection: TemporalConnection,
  { name, retentionDays }: NamespaceSettings,
): Promise<void> {
  const { native } = connection;
  const retention = { seconds: retentionDays * 86_400 };
  const service = native.workflowService;
  try {
    await service.registerNamespace({
      namespace: name,
      workflowExecutionRetentionPeriod: retention as never,
    });
  } catch (error) {
    if (!hasCode(error, ALREADY_EXISTS)) throw error;
    await service.updateNamespace({
      namespace: name,
      config: { workflowExecutionRetentionTtl: retention as never },
    });
  }

  const missing = await missingAttributes(connection, name);
  if (missing.length > 0) {
    await native.operatorService.addSearchAttributes({
      namespace: name,
      searchAttributes: Object.fromEntries(missing.map(({ name, type }) => [name, INDEXED_TYPES[type]])),
    });
  }
  await untilUsable(connection, name);
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

async function missingAttributes({ native }: TemporalConnection, namespace: string) {
  const { customAttributes } = await native.operatorService.listSearchAttributes({ namespace });
  return SEARCH_ATTRIBUTES.filter(({ name }) => !(name in (customAttributes ?? {})));
}

/** A cluster can use new namespaces and search attributes a little after it has accepted them. */
async function untilUsable({ native }: TemporalConnection, namespace: string): Promise<void> {
  const query = SEARCH_ATTRIBUTES.map(({ name }) => `${name} IS NULL`).join(' AND ');
  const deadline = Date.now() + USABLE_WITHIN_MS;
  for (;;) {
    try {
      await native.workflowService.countWorkflowExecutions({ namespace, query });
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await setTimeout(POLL_MS);
    }
  }
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
