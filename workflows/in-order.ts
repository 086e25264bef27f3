import { type SignalDefinition, setDefaultSignalHandler } from '@temporalio/workflow';

/**
 * Sets the handlers of signals of which the order matters. The SDK keeps signals that arrive before their handlers are
 * set, such as all that come before the first workflow task, and hands them over by handler, in the order in which
 * these are set; only a default handler gets them as the history has them. Other signals are ignored.
 *
 * @param handlers each signal with what it calls
 */
export function handleInOrder(handlers: readonly SignalHandler[]): void {
  const byName = new Map(handlers.map(({ name, handle }) => [name, handle]));
  setDefaultSignalHandler((name, ...args) => byName.get(name)?.(...args));
}

interface SignalHandler {
  name: string;
  handle(...args: unknown[]): void;
}

/** A signal with its handler, for {@link handleInOrder}. */
export function on<Args extends unknown[]>(
  signal: SignalDefinition<Args>,
  handle: (...args: Args) => void,
): SignalHandler {
  return { name: signal.name, handle: handle as SignalHandler['handle'] };
}
