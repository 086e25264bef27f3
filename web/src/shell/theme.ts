/** Light, dark, or as the system says. */
export type Theme = 'system' | 'light' | 'dark';

const NAME = 'hookline.theme';

export function readTheme(): Theme {
  const stored = localStorage.getItem(NAME);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

/** Shows a theme, and remembers it. */
export function writeTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, theme);
  applyTheme();
}

/** Shows the theme that was chosen. */
export function applyTheme(): void {
  const theme = readTheme();
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}
