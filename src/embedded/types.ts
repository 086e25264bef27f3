/** Takes one plain line for a person to read, without a trailing newline. */
export type Report = (line: string) => void;

/**
 * Where a server came from: the address in the configuration, a command on PATH, the official download, a
 * package of PyPI, or a build with the Go toolchain.
 */
export type How = 'configured' | 'path' | 'downloaded' | 'wheel' | 'built';
