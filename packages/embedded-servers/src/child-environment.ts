/**
 * Variables that any program may need: where things are, how the network is reached, in which language it speaks. A
 * name that ends with `*` stands for all that begin so.
 */
const COMMON = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'TMP', 'TEMP', 'XDG_*'],
  ...['LANG', 'LANGUAGE', 'LC_*', 'TZ', 'TERM', 'COLORTERM', 'NO_COLOR', 'COLUMNS'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['LD_LIBRARY_PATH', 'DYLD_*'],
  // Needed on Windows.
  ...['SYSTEMROOT', 'WINDIR', 'COMSPEC', 'PATHEXT', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'PROGRAMFILES'],
];

/**
 * The environment of a program that is not ours: the variables that are named here, and none of our settings, which
 * hold secrets.
 *
 * @param names further variables of this program's own, such as `GO*`
 */
export function childEnvironment(
  names: readonly string[] = [],
  environment: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const known = [...COMMON, ...names];
  const isKnown = (name: string) =>
    known.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one));
  const kept = Object.entries(environment).filter(([name]) => isKnown(name.toUpperCase()));
  return Object.fromEntries(kept.map(([name, value]) => [name, value ?? '']));
}
