import { AlertDialog } from '@base-ui/react/alert-dialog';
import { useRef, useState } from 'react';
import { Failed } from './states.js';

interface ConfirmProps {
  title: string;
  /** Text of the button that acts. */
  action: string;
  danger?: boolean;
  /** Whether what it takes is there; by default nothing is missing. */
  ready?: boolean;
  /** Action of the dialog, which closes when it is done. */
  act: () => Promise<unknown>;
  children?: React.ReactNode;
}

/** Either a button that opens the dialog, or somebody else who does. */
type OpenProps =
  | { trigger: React.ReactElement; label: React.ReactNode }
  | { open: boolean; setOpen: (open: boolean) => void };

/** Asks before something is done, and shows why if it could not be. */
export function Confirm({
  title,
  action,
  danger,
  ready = true,
  act,
  children,
  ...opened
}: ConfirmProps & OpenProps) {
  const [ownOpen, setOwnOpen] = useState(false);
  const [state, setState] = useState<{ busy?: boolean; error?: Error }>({});
  const open = 'open' in opened ? opened.open : ownOpen;
  const change = (next: boolean) => {
    setState({});
    if ('open' in opened) opened.setOpen(next);
    else setOwnOpen(next);
  };
  // A second click can come before the button is shown as disabled.
  const busy = useRef(false);
  const run = () => {
    if (busy.current) return;
    busy.current = true;
    setState({ busy: true });
    act()
      .then(
        () => change(false),
        (error: Error) => setState({ error }),
      )
      .finally(() => {
        busy.current = false;
      });
  };
  return (
    <AlertDialog.Root open={open} onOpenChange={change}>
      {'trigger' in opened && (
        <AlertDialog.Trigger render={opened.trigger}>{opened.label}</AlertDialog.Trigger>
      )}
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title>{title}</AlertDialog.Title>
          <AlertDialog.Description render={<div className="stack" />}>{children}</AlertDialog.Description>
          {state.error && <Failed error={state.error} />}
          <div className="end">
            <AlertDialog.Close className="button">Cancel</AlertDialog.Close>
            <button
              type="button"
              className={danger ? 'button danger' : 'button primary'}
              disabled={state.busy || !ready}
              onClick={run}
            >
              {action}
            </button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
