// Loaded before a program (`--import`): its `Date` is as many seconds ahead as the file `SHIFT_CLOCK_FILE` says, which
// is read again all the time.
import { readFileSync } from 'node:fs';

const file = process.env.SHIFT_CLOCK_FILE ?? '';
const RealDate = Date;
const read = () => Number(readFileSync(file, 'utf8')) * 1_000;
let shift = read();
setInterval(() => {
  shift = read();
}, 20).unref();

const now = () => RealDate.now() + shift;
globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(now()).toString(),
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
