import { Field } from '../../../ui/field.js';
import { SCHEMES, type Scheme } from './schemes.js';

/** A choice of how deliveries are signed. */
export function SchemeField({
  hint,
  scheme,
  set,
}: {
  hint: string;
  scheme: Scheme;
  set: (scheme: Scheme) => void;
}) {
  return (
    <Field label="Signature" hint={hint}>
      {(props) => (
        <select
          {...props}
          className="input"
          value={scheme}
          onChange={({ target }) => set(target.value as Scheme)}
        >
          {Object.entries(SCHEMES).map(([id, { name }]) => (
            <option key={id} value={id}>{`${id}: a ${name}`}</option>
          ))}
        </select>
      )}
    </Field>
  );
}
