import { useState } from 'react';
import { TextField } from '../../../ui/field.js';

/** Narrows a list down to what has a business key. */
export function KeyFilter({ value, set }: { value: string; set: (key: string) => void }) {
  const [text, setText] = useState(value);
  const valid = text === '' || /^[\w.-]+:.+$/.test(text);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (valid) set(text);
      }}
    >
      <TextField
        label="Business key"
        mistake={valid || text === value ? undefined : 'As name:value'}
        placeholder="order_id:1001"
        value={text}
        set={setText}
        onBlur={() => valid && text !== value && set(text)}
      />
    </form>
  );
}
