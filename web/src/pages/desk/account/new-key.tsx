import { CopyButton } from '../../../ui/copy.js';
import { Confirm } from '../../../ui/dialog.js';
import { Time } from '../../../ui/time.js';

/** A key as the response to its creation has it. */
export interface MadeKey {
  key: string;
  expires_at?: string | undefined;
}

/** Shows a key that was just made, once. @param made absent: there is none to show */
export function NewKey({
  title,
  made,
  close,
}: {
  title: string;
  made: MadeKey | undefined;
  close: () => void;
}) {
  if (made === undefined) return null;
  return (
    <Confirm open setOpen={close} title={title} action="I have kept it" act={async () => close()}>
      <p>
        It is shown only now. Hookline keeps a hash of it.
        {made.expires_at && (
          <>
            {' '}
            It ends <Time at={made.expires_at} show="relative" />.
          </>
        )}
      </p>
      <div className="code secret row">
        <code className="wrap grow">{made.key}</code>
        <CopyButton text={made.key} name="the key" />
      </div>
    </Confirm>
  );
}
