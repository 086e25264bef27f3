import assert from 'node:assert/strict';
import fc from 'fast-check';
import { newId } from '../../../src/domain/basics/ids.js';
import {
  ACCOUNT_ATTRIBUTE,
  deliveryAttributes,
  KIND_ATTRIBUTE,
} from '../../../src/domain/ledger/search-attributes.js';
import { equals, isOneOf, toQuery } from '../../../src/temporal/read/visibility/query.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Pieces that mean something to SQL, to Temporal's parser or to a shell. */
const PIECES = '-- /* */ ; ) ( % _ ? :v1 $1 # @ ` , AND OR'.split(' ');
const CLAUSES = ['WorkflowType', ' OR WorkflowType = deliver', 'HooklineEventHead = true', ' OR 1 = 1 --'];
const piece = fc.oneof(
  fc.constantFrom(...PIECES, ' ', ...CLAUSES),
  fc.string({ unit: 'binary', maxLength: 5 }),
  fc.string({ unit: 'grapheme', maxLength: 5 }),
);
/** Temporal's SQLite store writes it between the keywords of an attribute, so it gives back a text with it as two. */
const KEYWORD_SEPARATOR = '♡';
const anyText = fc
  .array(piece, { minLength: 1, maxLength: 8 })
  .map((pieces) => pieces.join('').replaceAll(KEYWORD_SEPARATOR, ''));

function isQuotable(text: string): boolean {
  try {
    equals('WorkflowId', text);
    return true;
  } catch {
    return false;
  }
}

describe('a text in a query to the ledger [world]', () => {
  let system: SharedSystem;

  before(async () => {
    system = await sharedSystem();
  });

  it('is refused if it contains a quote, a backslash or a control character', () => {
    for (const text of ["'", '"', '\\', "\\'", '\u0000', 'a\nb', '\u001b', '\u007f', '\t'])
      assert.ok(!isQuotable(text), JSON.stringify(text));
    assert.ok(isQuotable('order.shipped'));
  });

  it('stands for itself and nothing else, whatever it is: asked of the real server', async () => {
    const texts = fc.uniqueArray(anyText.filter(isQuotable), { minLength: 25, maxLength: 25 });
    await fc.assert(fc.asyncProperty(texts, findsEachByItself), { numRuns: 3, endOnFailure: true });
  });

  /** Starts an execution for each text but the last five, and asks for every text. */
  async function findsEachByItself(texts: readonly string[]): Promise<void> {
    const { client } = system.temporal;
    const account_id = newId('account');
    const started = texts.slice(0, -5);
    for (const event_kind of started) {
      await client.workflow.start('noSuchWorkflow', {
        workflowId: `quoting:${newId('event')}`,
        taskQueue: system.settings.HOOKLINE_TASK_QUEUE,
        typedSearchAttributes: deliveryAttributes(
          { account_id, event_id: newId('event'), event_kind },
          newId('endpoint'),
        ),
      });
    }
    const ofAccount = equals(ACCOUNT_ATTRIBUTE.name, account_id);
    const kindsOf = async (...clauses: Parameters<typeof toQuery>[0]) => {
      const kinds: (string | undefined)[] = [];
      for await (const execution of client.workflow.list({ query: toQuery([ofAccount, ...clauses]) }))
        kinds.push(execution.typedSearchAttributes.get(KIND_ATTRIBUTE));
      return kinds;
    };
    await until(kindsOf, (kinds) => kinds.length === started.length);
    for (const text of texts) {
      const expected = started.includes(text) ? [text] : [];
      assert.deepEqual(await kindsOf(equals(KIND_ATTRIBUTE.name, text)), expected, JSON.stringify(text));
    }
    const some = texts.slice(10);
    const found = await kindsOf(isOneOf(KIND_ATTRIBUTE.name, some));
    assert.deepEqual(found.sort(), some.filter((text) => started.includes(text)).sort());
  }
});
