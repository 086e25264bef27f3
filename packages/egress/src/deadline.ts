/**
 * Does something once the time is over, unless it is called off.
 *
 * What has arrived by then is read before: an event loop that was busy, as that of a process that has just started, or
 * stood still, runs what is due before it looks at its sockets. A response that was there in time would count as none.
 *
 * @param ms milliseconds @returns calls it off
 */
export function deadline(ms: number, act: () => void): () => void {
  let afterReading: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    afterReading = setImmediate(act);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(afterReading);
  };
}
