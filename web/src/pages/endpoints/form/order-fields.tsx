import { Field, TextField } from '../../../ui/field.js';

/** The order of deliveries, as it is chosen. */
export interface OrderTexts {
  ordering: 'none' | 'key' | 'endpoint';
  skip: 'never' | 'exhausted';
  skipAfter: string;
}

const ORDERINGS = {
  none: 'None: each is delivered as soon as possible',
  key: 'By key: events with the same order key, one after the other',
  endpoint: 'All events, one after the other',
};
const SKIPS = {
  never: 'Wait until it is delivered or cancelled',
  exhausted: 'Go on once it has failed for good',
};

/** Which deliveries wait for each other, and what becomes of those behind one that fails. */
export function OrderFields({
  texts,
  change,
  refused,
}: {
  texts: OrderTexts;
  change: (more: Partial<OrderTexts>) => void;
  refused: (pointer: string) => string | undefined;
}) {
  return (
    <>
      <Choice
        label="Order"
        hint="A delivery that fails holds up those behind it."
        names={ORDERINGS}
        value={texts.ordering}
        set={(ordering) => change({ ordering })}
      />
      {texts.ordering !== 'none' && (
        <>
          <Choice
            label="Behind one that fails"
            names={SKIPS}
            value={texts.skip}
            set={(skip) => change({ skip })}
          />
          <TextField
            label="Held up for at most"
            hint="Such as 1h. Empty: for any time."
            mistake={refused('/order_skip_after')}
            code
            value={texts.skipAfter}
            set={(skipAfter) => change({ skipAfter })}
          />
        </>
      )}
    </>
  );
}

function Choice<Name extends string>({
  label,
  hint,
  names,
  value,
  set,
}: {
  label: string;
  hint?: string;
  names: Record<Name, string>;
  value: Name;
  set: (name: Name) => void;
}) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {(props) => (
        <select
          {...props}
          className="input"
          value={value}
          onChange={({ target }) => set(target.value as Name)}
        >
          {Object.entries<string>(names).map(([name, means]) => (
            <option key={name} value={name}>
              {means}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
