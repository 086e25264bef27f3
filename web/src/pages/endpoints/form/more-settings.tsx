import { Field, TextField } from '../../../ui/field.js';
import { SchemeField } from '../secret/scheme-field.js';
import type { Scheme } from '../secret/schemes.js';
import { OPTION_NAMES, parseOptions } from './delivery-options.js';
import { parseNamedValues } from './named-values.js';
import { OrderFields, type OrderTexts } from './order-fields.js';

/** Texts of settings that few endpoints need, as they are typed. */
export interface MoreTexts extends OrderTexts {
  headers: string;
  metadata: string;
  waits: string;
  /** JSON. */
  options: string;
  scheme: Scheme;
}

/** Headers, the schedule of retries, the order, notes, and at registration how deliveries are signed. */
export function MoreSettings({
  texts,
  change,
  refused,
  isNew,
}: {
  texts: MoreTexts;
  change: (more: Partial<MoreTexts>) => void;
  /** Why the service refuses a field. */
  refused: (pointer: string) => string | undefined;
  isNew: boolean;
}) {
  const { headers, metadata, waits, options, ordering } = texts;
  const isUsed = ordering !== 'none' || [headers, metadata, waits, options].some((text) => text !== '');
  return (
    <details open={isUsed || undefined}>
      <summary>More settings</summary>
      <div className="stack">
        <Lines
          label="Headers"
          hint="Sent with each delivery: one on each line, as name: value. Values that are stored are shown as dots, and stay."
          mistake={refused('/headers') ?? parseNamedValues(texts.headers).mistake}
          text={texts.headers}
          set={(headers) => change({ headers })}
        />
        <TextField
          label="Waits between retries"
          hint="Such as 5s, 5m, 2h. Empty: the schedule of this installation."
          mistake={refused('/retry_schedule')}
          code
          value={texts.waits}
          set={(waits) => change({ waits })}
        />
        <OrderFields texts={texts} change={change} refused={refused} />
        <Lines
          label="How deliveries are sent"
          hint='JSON, such as {"attempt_timeout": "20s", "max_concurrency": 1}. Secrets are shown as dots, and stay.'
          mistake={
            OPTION_NAMES.map((name) => refused(`/${name}`)).find((each) => each !== undefined) ??
            parseOptions(texts.options).mistake
          }
          text={texts.options}
          set={(options) => change({ options })}
        />
        <Lines
          label="Notes"
          hint="Your own, as name: value on each line. Nothing is sent of them."
          mistake={refused('/metadata') ?? parseNamedValues(texts.metadata).mistake}
          text={texts.metadata}
          set={(metadata) => change({ metadata })}
        />
        {isNew && (
          <SchemeField
            hint="v1 is what libraries of Standard Webhooks verify. It can be changed by a rotation."
            scheme={texts.scheme}
            set={(scheme) => change({ scheme })}
          />
        )}
      </div>
    </details>
  );
}

function Lines({
  label,
  hint,
  mistake,
  text,
  set,
}: {
  label: string;
  hint: string;
  mistake: string | undefined;
  text: string;
  set: (text: string) => void;
}) {
  return (
    <Field label={label} hint={hint} mistake={mistake}>
      {(props) => (
        <textarea
          {...props}
          className="input mono"
          rows={3}
          spellCheck={false}
          value={text}
          onChange={({ target }) => set(target.value)}
        />
      )}
    </Field>
  );
}
