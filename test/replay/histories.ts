import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

const FOLDER = new URL('histories/', import.meta.url);

/** An event of a history in JSON, as far as tests look into it. */
export interface HistoryEvent {
  eventType: string;
  workflowExecutionStartedEventAttributes?: { workflowType: { name: string } };
  workflowExecutionSignaledEventAttributes?: { signalName: string };
  workflowExecutionUpdateAcceptedEventAttributes?: { acceptedRequest: { input: { name: string } } };
  activityTaskScheduledEventAttributes?: { activityType: { name: string } };
  markerRecordedEventAttributes?: { markerName: string };
}

/** A history as it was recorded, by the name of its scenario. */
export interface RecordedHistory {
  name: string;
  history: { events: HistoryEvent[] };
}

/** All recorded histories. */
export const HISTORIES: readonly RecordedHistory[] = readdirSync(FOLDER)
  .sort()
  .map((file) => ({
    name: file.replace(/\.json(\.gz)?$/, ''),
    history: JSON.parse(read(new URL(file, FOLDER))),
  }));

function read(file: URL): string {
  const bytes = readFileSync(file);
  return (file.pathname.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}

/** The workflow type of a recorded history. */
export function workflowTypeOf({ history }: RecordedHistory): string {
  return history.events[0]?.workflowExecutionStartedEventAttributes?.workflowType.name ?? '';
}

/** How an execution ended, such as COMPLETED. Of an execution that had not ended: the type of its last event. */
export function endOf({ history }: RecordedHistory): string {
  return history.events.at(-1)?.eventType.replace('EVENT_TYPE_WORKFLOW_EXECUTION_', '') ?? '';
}

/** A history as if it were of another workflow type, whose name it gets too. */
export function ofType(type: string, { history }: RecordedHistory): RecordedHistory {
  const [started, ...events] = history.events;
  const attributes = { ...started?.workflowExecutionStartedEventAttributes, workflowType: { name: type } };
  const first = { ...started, workflowExecutionStartedEventAttributes: attributes } as HistoryEvent;
  return { name: type, history: { events: [first, ...events] } };
}

/** The payloads in a part of a history, decoded. */
export function payloadsOf(part: unknown): unknown[] {
  if (typeof part !== 'object' || part === null) return [];
  if ('data' in part && typeof part.data === 'string' && 'metadata' in part) {
    const text = Buffer.from(part.data, 'base64').toString('utf8');
    return text === '' ? [] : [JSON.parse(text)];
  }
  return Object.values(part).flatMap(payloadsOf);
}
