import { useState } from 'react';
import {
  decidingClauses,
  describeCondition,
  type Filter,
  matchesFilter,
} from '../../../../../packages/payload-contract/src/filter/index.js';
import { exampleOf } from '../../../parts/kinds/example.js';
import { useKinds } from '../../../parts/kinds/use-kinds.js';
import { toPrettyJson } from '../../../ui/copy.js';
import { Field } from '../../../ui/field.js';
import { LastDay } from './last-day.js';
import { parseFilter } from './parse-filter.js';

const HINT = 'Empty: all events of these kinds. For example {"path": "/total", "at_least": 100}';

/** A filter, and a place to try it out on a payload: with the rules by which the service decides. */
export function FilterField({
  text,
  chosen,
  change,
  mistake,
}: {
  text: string;
  /** The event kinds that the endpoint is registered for: an example of one is what the filter is tried on at first. */
  chosen: readonly string[];
  change: (text: string) => void;
  mistake?: string | undefined;
}) {
  const kinds = useKinds();
  const [sample, setSample] = useState<string>();
  const first =
    kinds.data?.find(({ name }) => chosen.includes(name)) ??
    kinds.data?.find(({ name }) => name === 'purchase');
  const shown = sample ?? (first ? toPrettyJson(exampleOf(first.schema)) : '');
  const parsed = parseFilter(text);
  return (
    <div className="stack">
      <Field label="Filter" hint={HINT} mistake={mistake ?? parsed.mistake}>
        {(props) => (
          <textarea
            {...props}
            className="input"
            spellCheck={false}
            value={text}
            onChange={(event) => change(event.target.value)}
          />
        )}
      </Field>
      {text.trim() !== '' && (
        <>
          <Field label="Try it on a payload">
            {(props) => (
              <textarea
                {...props}
                className="input"
                spellCheck={false}
                value={shown}
                onChange={(event) => setSample(event.target.value)}
              />
            )}
          </Field>
          {parsed.filter && <Outcome filter={parsed.filter} sample={shown} />}
          {parsed.filter && <LastDay kinds={chosen} filter={parsed.filter} />}
        </>
      )}
    </div>
  );
}

function Outcome({ filter, sample }: { filter: Filter; sample: string }) {
  const { passes, reasons, mistake } = tryOut(filter, sample);
  if (mistake !== undefined) return <div className="notice warn">{mistake}</div>;
  return (
    <div className={passes ? 'notice good' : 'notice warn'} role="status">
      <div>
        <strong>{passes ? 'This event would be delivered.' : 'This event would not be delivered.'}</strong>
        {reasons.map((reason) => (
          <p key={reason}>{reason}</p>
        ))}
      </div>
    </div>
  );
}

function tryOut(filter: Filter, sample: string): { passes: boolean; reasons: string[]; mistake?: string } {
  try {
    const payload: unknown = JSON.parse(sample);
    if (matchesFilter(filter, payload)) return { passes: true, reasons: [] };
    const clauses = decidingClauses(filter, payload);
    const reasons = clauses.map(({ condition, found }) => {
      const has =
        found === undefined ? 'the payload has nothing there' : `the payload has ${JSON.stringify(found)}`;
      return `${describeCondition(condition)}: ${has}`;
    });
    return { passes: false, reasons };
  } catch {
    return { passes: false, reasons: [], mistake: 'The payload is not JSON.' };
  }
}
