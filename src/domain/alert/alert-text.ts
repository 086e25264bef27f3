import { cutText } from '../text/unicode.js';
import type { Alert, AlertKind } from './alert.js';
import type { AlertDigest } from './alert-inbox.js';

/** A message for people, as plain text. */
export interface AlertMessage {
  /** One line. */
  subject: string;
  text: string;
}

/** Texts that come from outside, such as the last failure, are cut to this. */
const MAX_SAID = 300;

const VERBS: Readonly<Record<string, string>> = {
  'endpoint.failing': 'is failing',
  'endpoint.recovered': 'has recovered',
  'endpoint.disabled': 'was disabled',
  'log.altered': 'was altered and is not signed',
  'log.refused': 'is refused by a witness',
} satisfies Record<AlertKind, string>;

/** Text of a digest: a subject that is enough by itself if there is one alert, and a paragraph for each. */
export function renderAlerts({ alerts, left_out }: AlertDigest): AlertMessage {
  const paragraphs = alerts.map(renderAlert);
  if (left_out > 0)
    paragraphs.push(
      `${left_out} further alerts are not listed here. GET /v18.0/endpoints shows the state of each.`,
    );
  return { subject: `Hookline: ${oneLine(subjectOf(alerts))}`, text: `${paragraphs.join('\n\n')}\n` };
}

function subjectOf(alerts: readonly Alert[]): string {
  const [first] = alerts;
  if (first && alerts.length === 1) return `${nameOf(first)} ${verbOf(first)}`;
  const counts = Object.entries(VERBS).flatMap(([kind, verb]) => {
    const count = alerts.filter((alert) => alert.kind === kind).length;
    return count > 0 ? [`${count} ${verb.replace(/^(is|has|was) /, '')}`] : [];
  });
  return `${alerts.length} alerts${counts.length > 0 ? `: ${counts.join(', ')}` : ''}`;
}

function renderAlert(alert: Alert): string {
  const { since, said, endpoint_id, account_id, at, kind } = alert;
  const lines = [
    `${nameOf(alert)} ${verbOf(alert)}${kind === 'endpoint.failing' && since ? `, since ${shown(since)}` : ` at ${shown(at)}`}.`,
    ...(said ? [kind === 'endpoint.failing' ? `Last attempt: ${shorten(said)}.` : shorten(said)] : []),
    ...(kind === 'endpoint.recovered' && since ? [`It had been failing since ${shown(since)}.`] : []),
    ...(endpoint_id === undefined ? [] : [`Endpoint ${endpoint_id}, account ${account_id}`]),
  ];
  return lines.map(oneLine).join('\n');
}

function nameOf({ host, endpoint_id }: Alert): string {
  return host ?? endpoint_id ?? 'The log';
}

function verbOf({ kind }: Alert): string {
  return VERBS[kind] ?? kind;
}

/** `2026-11-21 12:30:05 UTC` */
function shown(time: string): string {
  return time.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC');
}

function shorten(text: string): string {
  return cutText(text, MAX_SAID, ' …');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}
