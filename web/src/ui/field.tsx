import { useId } from 'react';

/** What a field hands to its input, so that screen readers know what belongs to it. */
export interface InputProps {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean | undefined;
}

/** A field with its label, a hint, and what is wrong with it. */
export function Field({
  label,
  hint,
  mistake,
  fine,
  children,
}: {
  label: string;
  hint?: React.ReactNode;
  mistake?: string | undefined;
  fine?: string | undefined;
  children: (props: InputProps) => React.ReactNode;
}) {
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
