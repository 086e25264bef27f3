/** Target of a fault. Faults that are made at once have different ones. */
export type Struck = 'node' | 'nodes' | 'temporal' | 'mongodb' | 'link' | 'receiver' | 'disk';

/** A kind of fault. */
export interface FaultKind {
  name: string;
  /** Description of the fault, in words. */
  about: string;
  strikes: Struck;
}

const kind = <const Name extends string>(name: Name, strikes: Struck, about: string) => ({
  name,
  strikes,
  about,
});

/** Every kind of fault that a run can have. */
export const FAULT_KINDS = [
  kind('node-killed', 'node', 'a Hookline process is killed (SIGKILL) and started again'),
  kind('node-frozen', 'node', 'a Hookline process is stopped (SIGSTOP) and goes on (SIGCONT)'),
  kind('node-restarted', 'node', 'a Hookline process is told to stop (SIGTERM) and started again'),
  kind(
    'node-clock-ahead',
    'node',
    'a Hookline process is restarted with a clock that is ahead, and set right later',
  ),
  kind(
    'node-clock-behind',
    'node',
    'a Hookline process is restarted with a clock that is behind, and set right later',
  ),
  kind('nodes-rolled', 'nodes', 'all Hookline processes are restarted, one after another'),
  kind('nodes-killed', 'nodes', 'all Hookline processes are killed at once and started again'),
  kind('temporal-killed', 'temporal', 'Temporal is killed and started again'),
  kind('temporal-frozen', 'temporal', 'Temporal is stopped and goes on'),
  kind('temporal-restarted', 'temporal', 'Temporal is told to stop and started again'),
  kind('mongodb-killed', 'mongodb', 'the MongoDB server is killed and started again'),
  kind('mongodb-frozen', 'mongodb', 'the MongoDB server is stopped and goes on'),
  kind('mongodb-restarted', 'mongodb', 'the MongoDB server is told to stop and started again'),
  kind('temporal-cut', 'link', 'a process loses every connection to Temporal, and gets no new one'),
  kind('temporal-slow', 'link', 'every packet between a process and Temporal is late'),
  kind('temporal-unanswered', 'link', 'Temporal does what a process asks, and its answers are lost'),
  kind('mongodb-cut', 'link', 'a process loses every connection to MongoDB, and gets no new one'),
  kind('mongodb-slow', 'link', 'every packet between a process and MongoDB is late'),
  kind('mongodb-unanswered', 'link', 'MongoDB does what a process asks, and its answers are lost'),
  kind('api-cut', 'link', 'producers lose every connection to a process'),
  kind('api-unanswered', 'link', 'a process does what producers ask, and its answers are lost'),
  kind('receiver-cut', 'receiver', 'connections to a receiver end and are refused'),
  kind('receiver-slow', 'receiver', 'every packet between Hookline and a receiver is late'),
  kind('receiver-hangs', 'receiver', 'a receiver takes requests and does not respond'),
  kind('receiver-resets', 'receiver', 'a receiver takes requests and ends the connection'),
  kind('receiver-flaps', 'receiver', 'a receiver answers 200 and 503 by turns'),
  kind('receiver-500', 'receiver', 'a receiver answers 500'),
  kind('receiver-410', 'receiver', 'a receiver answers 410, which disables its endpoint'),
  kind('receiver-429', 'receiver', 'a receiver answers 429 with Retry-After in seconds'),
  kind('receiver-503', 'receiver', 'a receiver answers 503 with Retry-After as a date'),
  kind('receiver-garbage', 'receiver', 'a receiver answers with bytes that are no HTTP'),
  kind('disk-full-temporal', 'disk', "Temporal's files may not grow (RLIMIT_FSIZE)"),
  kind('disk-full-mongodb', 'disk', "the MongoDB server's files may not grow (RLIMIT_FSIZE)"),
] as const satisfies readonly FaultKind[];

export type FaultName = (typeof FAULT_KINDS)[number]['name'];

/** Actions of people and systems meanwhile, by the public API. */
export const ACT_KINDS = [
  'rotate-secret',
  'pause-endpoint',
  'retry-now',
  'cancel',
  'resend',
  'pause-delivery',
  'replay',
  'erase-subject',
  'keep-records',
  'delete-account',
] as const;

export type ActName = (typeof ACT_KINDS)[number];
