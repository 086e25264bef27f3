import { Menu } from '@base-ui/react/menu';
import { useState } from 'react';
import { capitalize } from '../ui/badge.js';
import { Icon } from '../ui/icons.js';
import { readTheme, type Theme, writeTheme } from './theme.js';

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

/** Chooses light, dark, or what the system says. */
export function ThemeMenu() {
  const [theme, setTheme] = useState(readTheme);
  return (
    <Menu.Root>
      <Menu.Trigger className="icon-button" aria-label={`Theme: ${theme}`} title="Theme">
        <Icon name="sun" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="menu-layer" sideOffset={6} align="end">
          <Menu.Popup className="menu">
            <Menu.RadioGroup
              value={theme}
              onValueChange={(next: Theme) => {
                writeTheme(next);
                setTheme(next);
              }}
            >
              {THEMES.map((name) => (
                <Menu.RadioItem key={name} value={name} closeOnClick>
                  {name === theme ? '✓' : ' '} {capitalize(name)}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
