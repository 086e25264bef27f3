import { Menu } from '@base-ui/react/menu';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../../../api/types.js';
import { deliveryWord } from '../../../ui/badge.js';

/** Chooses the statuses that a list has; none stands for any. */
export function StatusMenu({
  statuses,
  change,
}: {
  statuses: readonly DeliveryStatus[];
  change: (statuses: DeliveryStatus[]) => void;
}) {
  const text = statuses.length === 0 ? 'Any' : statuses.map(deliveryWord).join(', ');
  return (
    <div className="field">
      <span className="label" aria-hidden="true">
        Status
      </span>
      <Menu.Root>
        <Menu.Trigger className="input menu-input" aria-label={`Status: ${text}`}>
          {text}
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner className="menu-layer" sideOffset={4} align="start">
            <Menu.Popup className="menu">
              {DELIVERY_STATUSES.map((status) => {
                const isChosen = statuses.includes(status);
                return (
                  <Menu.CheckboxItem
                    key={status}
                    checked={isChosen}
                    onCheckedChange={(checked) => {
                      const rest = statuses.filter((other) => other !== status);
                      change(checked ? [...rest, status] : rest);
                    }}
                  >
                    <span aria-hidden="true">{isChosen ? '✓' : '\u2002'}</span> {deliveryWord(status)}
                  </Menu.CheckboxItem>
                );
              })}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
    </div>
  );
}
