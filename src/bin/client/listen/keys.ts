/**
 * Calls back for each key that is pressed, if a keyboard is there; Ctrl-C and q are `stop`.
 *
 * @returns gives the keyboard back
 */
export function onKey(pressed: (key: string) => void): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => {};
  const take = (data: Buffer) => {
    for (const key of data.toString('utf8')) pressed(key === '\u0003' || key === 'q' ? 'stop' : key);
  };
  stdin.setRawMode(true);
  stdin.resume();
  stdin.on('data', take);
  return () => {
    stdin.off('data', take);
    stdin.setRawMode(false);
    stdin.pause();
  };
}
