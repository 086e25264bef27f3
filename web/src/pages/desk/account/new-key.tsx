import { CopyButton } from '../../../ui/copy.js';
import { Confirm } from '../../../ui/dialog.js';

/** Shows a key that was just made, once. @param text absent: there is none to show */
export function NewKey({
  title,
  text,
  close,
}: {
  title: string;
  text: string | undefined;
  close: () => void;
}) {
  if (text === undefined) return null;
  return (
    <Confirm open setOpen={close} title={title} action="I have kept it" act={async () => close()}>
      <p>It is shown only now. Hookline keeps a hash of it.</p>
      <div className="code secret row">
        <code className="wrap grow">{text}</code>
        <CopyButton text={text} name="the key" />
      </div>
    </Confirm>
  );
}
