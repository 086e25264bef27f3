import { isTemporalCloud } from '../temporal-cloud.js';
import { type NeededAttribute, typeName } from './search-attributes.js';

/** Settings that a namespace must have before Hookline runs in it. */
export interface NamespaceSettings {
  name: string;
  /** How long closed executions stay readable, in days. */
  retentionDays: number;
  /** `host:port` of the server: it tells which commands are for it. */
  address: string;
}

/** Commands for somebody who may administer a namespace. */
export interface Administration extends NamespaceSettings {
  /** Whether it has to be made. */
  isAbsent: boolean;
  attributes: readonly NeededAttribute[];
}

/**
 * The commands that do it, as lines: of Temporal Cloud's `tcld` and Terraform provider, or of a cluster's own command
 * line.
 */
export function administrationLines(needed: Administration): string[] {
  return isTemporalCloud(needed.address) ? cloudLines(needed) : clusterLines(needed);
}

/** The command that sets the retention. */
export function retentionLine({ name, retentionDays, address }: NamespaceSettings): string {
  return isTemporalCloud(address)
    ? `tcld namespace retention set --namespace ${name} --retention-days ${retentionDays}`
    : `temporal operator namespace update --namespace ${name} --retention ${retentionDays}d`;
}

function clusterLines({ name, isAbsent, attributes, retentionDays }: Administration): string[] {
  const create = `temporal operator namespace create --namespace ${name} --retention ${retentionDays}d`;
  const pairs = attributes.map((attribute) => `--name ${attribute.name} --type ${typeName(attribute)}`);
  return [
    ...(isAbsent ? [create] : []),
    ...(pairs.length > 0
      ? command(`temporal operator search-attribute create --namespace ${name}`, pairs)
      : []),
  ];
}

function cloudLines(needed: Administration): string[] {
  const { name, isAbsent, attributes, retentionDays } = needed;
  const pairs = attributes.map((attribute) => `--search-attribute ${attribute.name}=${typeName(attribute)}`);
  // Cloud adds the account itself: a namespace "hookline" of the account "a1b2c" is "hookline.a1b2c".
  const [ownName = name] = name.split('.');
  const tcld = isAbsent
    ? command(
        `tcld namespace create --namespace ${ownName} --region aws-us-east-1 --auth-method api_key --retention-days ${retentionDays}`,
        pairs,
      )
    : command(`tcld namespace search-attributes add --namespace ${name}`, pairs);
  return [...tcld, '', 'or with Terraform:', '', ...terraform(needed, ownName)];
}

function terraform({ name, isAbsent, attributes, retentionDays }: Administration, ownName: string): string[] {
  const made = [
    'resource "temporalcloud_namespace" "hookline" {',
    `  name           = "${ownName}"`,
    '  regions        = ["aws-us-east-1"]',
    '  api_key_auth   = true',
    `  retention_days = ${retentionDays}`,
    '}',
  ];
  const types = attributes.map((attribute) => `    ${attribute.name} = "${typeName(attribute)}"`);
  return [
    ...(isAbsent ? made : []),
    'resource "temporalcloud_namespace_search_attribute" "hookline" {',
    '  for_each = {',
    ...types,
    '  }',
    `  namespace_id = ${isAbsent ? 'temporalcloud_namespace.hookline.id' : `"${name}"`}`,
    '  name         = each.key',
    '  type         = each.value',
    '}',
  ];
}

/** A command over several lines, which a shell takes as one. */
function command(start: string, options: readonly string[]): string[] {
  return [start, ...options.map((option) => `  ${option}`)].map((line, index) =>
    index < options.length ? `${line} \\` : line,
  );
}
