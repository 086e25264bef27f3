import { SearchAttributeType } from '@temporalio/common';
import proto from '@temporalio/proto';
import { SEARCH_ATTRIBUTES } from '../../../domain/ledger/search-attributes.js';
import { GRPC, hasCode } from '../../errors.js';
import type { TemporalConnection } from '../connection.js';

const { IndexedValueType } = proto.temporal.api.enums.v1;

/**
 * The server does not let this caller make a call, or has no such call: as Temporal Cloud, where namespaces are made by
 * other means.
 */
export const REFUSED = [GRPC.permissionDenied, GRPC.unimplemented] as const;

/** A search attribute that Hookline needs. */
export type NeededAttribute = (typeof SEARCH_ATTRIBUTES)[number];

/**
 * Properties of each type: its number in the API, its name for people, and a condition that is valid for no other type
 * that matters here.
 */
const TYPES = {
  [SearchAttributeType.KEYWORD]: {
    number: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    name: 'Keyword',
    condition: "= 'x'",
  },
  [SearchAttributeType.KEYWORD_LIST]: {
    number: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
    name: 'KeywordList',
    condition: "= 'x'",
  },
  [SearchAttributeType.BOOL]: {
    number: IndexedValueType.INDEXED_VALUE_TYPE_BOOL,
    name: 'Bool',
    condition: '= true',
  },
  [SearchAttributeType.DATETIME]: {
    number: IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
    name: 'Datetime',
    condition: "= '2026-01-01T00:00:00Z'",
  },
} as const;

/** The name of an attribute's type, as Temporal's command lines, `tcld` and Terraform take it. */
export function typeName({ type }: NeededAttribute): string {
  return TYPES[type].name;
}

/** The number of an attribute's type in Temporal's API. */
export function typeNumber({ type }: NeededAttribute): number {
  return TYPES[type].number;
}

/**
 * The attributes that a namespace lacks. Where the server does not let them be listed, as Temporal Cloud may not, each
 * is tried in a query.
 *
 * @throws Error that names an attribute of another type
 */
export async function missingAttributes(
  connection: TemporalConnection,
  namespace: string,
): Promise<NeededAttribute[]> {
  try {
    const { customAttributes } = await connection.native.operatorService.listSearchAttributes({ namespace });
    const present = customAttributes ?? {};
    for (const attribute of SEARCH_ATTRIBUTES) requireType(attribute, present[attribute.name], namespace);
    return SEARCH_ATTRIBUTES.filter(({ name }) => !(name in present));
  } catch (error) {
    if (!hasCode(error, ...REFUSED)) throw error;
  }
  const missing: NeededAttribute[] = [];
  // One after the other: a namespace of Temporal Cloud has room for 30 such calls a second.
  for (const attribute of SEARCH_ATTRIBUTES) {
    if (!(await canBeAskedFor(connection, namespace, attribute))) missing.push(attribute);
  }
  return missing;
}

function requireType(attribute: NeededAttribute, found: number | undefined, namespace: string): void {
  if (found === undefined || found === typeNumber(attribute)) return;
  const other = Object.values(TYPES).find(({ number }) => number === found)?.name ?? `type ${found}`;
  throw new Error(
    `The search attribute ${attribute.name} of the namespace "${namespace}" is a ${other} and has to be a ${typeName(attribute)}. Remove it there, or choose another namespace (TEMPORAL_NAMESPACE).`,
  );
}

async function canBeAskedFor(
  { client }: TemporalConnection,
  namespace: string,
  { name, type }: NeededAttribute,
): Promise<boolean> {
  try {
    const query = `${name} ${TYPES[type].condition}`;
    await client.workflowService.countWorkflowExecutions({ namespace, query });
    return true;
  } catch (error) {
    if (hasCode(error, GRPC.invalidArgument)) return false;
    throw error;
  }
}
