import { deepEqual, equal } from 'node:assert/strict';
import { SEARCH_ATTRIBUTES } from '../../../src/domain/ledger/search-attributes.js';
import { administrationLines, retentionLine } from '../../../src/temporal/server/namespace/administration.js';
import { isTemporalCloud } from '../../../src/temporal/server/temporal-cloud.js';

const CLOUD = 'hookline.a1b2c.tmprl.cloud:7233';
const CLUSTER = 'temporal.example.com:7233';
const lacking = {
  name: 'hookline.a1b2c',
  address: CLOUD,
  isAbsent: false,
  attributes: SEARCH_ATTRIBUTES.slice(0, 2),
  retentionDays: 30,
};

describe('what somebody has to do in Temporal who may', () => {
  it('is told for Temporal Cloud by the address of a namespace, a region or a private link', () => {
    const addresses = [
      CLOUD,
      'us-east-1.aws.api.temporal.io:7233',
      'x.a1b2c.tmprl.cloud',
      CLUSTER,
      'tmprl.cloud.example.com:7233',
    ];
    deepEqual(addresses.map(isTemporalCloud), [true, true, true, false, false]);
  });

  it('is, for attributes in Temporal Cloud, a command of tcld and a resource of Terraform', () => {
    deepEqual(administrationLines(lacking), [
      'tcld namespace search-attributes add --namespace hookline.a1b2c \\',
      '  --search-attribute HooklineAccount=KeywordList \\',
      '  --search-attribute HooklineEndpoint=KeywordList',
      '',
      'or with Terraform:',
      '',
      'resource "temporalcloud_namespace_search_attribute" "hookline" {',
      '  for_each = {',
      '    HooklineAccount = "KeywordList"',
      '    HooklineEndpoint = "KeywordList"',
      '  }',
      '  namespace_id = "hookline.a1b2c"',
      '  name         = each.key',
      '  type         = each.value',
      '}',
    ]);
  });

  it('is, for a namespace of Temporal Cloud, made without the account in its name', () => {
    const lines = administrationLines({ ...lacking, isAbsent: true });
    equal(
      lines[0],
      'tcld namespace create --namespace hookline --region aws-us-east-1 --auth-method api_key --retention-days 30 \\',
    );
    equal(lines.includes('  namespace_id = temporalcloud_namespace.hookline.id'), true);
  });

  it('is, for a cluster, commands of its own command line', () => {
    const needed = { ...lacking, name: 'hookline', address: CLUSTER, isAbsent: true };
    deepEqual(administrationLines(needed), [
      'temporal operator namespace create --namespace hookline --retention 30d',
      'temporal operator search-attribute create --namespace hookline \\',
      '  --name HooklineAccount --type KeywordList \\',
      '  --name HooklineEndpoint --type KeywordList',
    ]);
  });

  it('sets a retention', () => {
    equal(
      retentionLine(lacking),
      'tcld namespace retention set --namespace hookline.a1b2c --retention-days 30',
    );
    equal(
      retentionLine({ ...lacking, address: CLUSTER }),
      'temporal operator namespace update --namespace hookline.a1b2c --retention 30d',
    );
  });
});
