import { Field } from '../../../ui/field.js';
import { useKinds } from '../../kinds/use-kinds.js';

/** Narrows a list down to a kind of event. @param change receives an empty text for all */
export function KindFilter({
  kind = '',
  change,
}: {
  kind: string | undefined;
  change: (kind: string) => void;
}) {
  const kinds = useKinds();
  return (
    <Field label="Event kind">
      {(props) => (
        <select {...props} className="input" value={kind} onChange={({ target }) => change(target.value)}>
          <option value="">All</option>
          {kinds.data?.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
          <option>endpoint.test</option>
        </select>
      )}
    </Field>
  );
}
