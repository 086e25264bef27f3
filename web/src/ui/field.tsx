import { useId } from 'react';

/** Properties that a field hands to its input, so that screen readers know what belongs to it. */
export interface InputProps {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean | undefined;
}

/** Texts about a field. */
interface About {
  label: string;
  hint?: React.ReactNode;
  mistake?: string | undefined;
  fine?: string | undefined;
}

/** A field with its label, a hint, and what is wrong with it. */
export function Field({
  label,
  hint,
  mistake,
  fine,
  children,
}: About & { children: (props: InputProps) => React.ReactNode }) {
  const id = useId();
  const note = mistake ?? fine ?? hint;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-describedby': note ? `${id}-note` : undefined,
        'aria-invalid': mistake ? true : undefined,
      })}
      {note && (
        <div id={`${id}-note`} className={mistake ? 'mistake' : fine ? 'fine' : 'hint'} aria-live="polite">
          {note}
        </div>
      )}
    </div>
  );
}

/** A field for a line of text, or whatever else an `<input>` takes. @param code shown as code is */
export function TextField({
  label,
  hint,
  mistake,
  fine,
  value,
  set,
  code,
  ...input
}: About & {
  value: string;
  set: (value: string) => void;
  code?: boolean;
} & Omit<React.ComponentProps<'input'>, keyof InputProps | 'value' | 'className' | 'onChange'>) {
  return (
    <Field label={label} hint={hint} mistake={mistake} fine={fine}>
      {(props) => (
        <input
          {...input}
          {...props}
          className={code ? 'input mono' : 'input'}
          value={value}
          onChange={(event) => set(event.target.value)}
        />
      )}
    </Field>
  );
}
