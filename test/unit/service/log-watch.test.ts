import { deepEqual, match } from 'node:assert/strict';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { createLogWatch } from '../../../src/bin/service/log/log-watch.js';
import type { Alert } from '../../../src/domain/alert/alert.js';
import { renderAlerts } from '../../../src/domain/alert/alert-text.js';
import { LogAlteredError } from '../../../src/domain/log/log-altered.js';

const logger = pino({ level: 'silent' });
const error = new LogAlteredError('checkpoint_missing', 'a checkpoint of 5 records was signed');

describe('the watch of the log', () => {
  it('alerts people to each reason once a day, and counts every refusal', async () => {
    const registry = new Registry();
    const raised: Alert[] = [];
    const raiser = { concerns: () => true, raise: async (alert: Alert) => void raised.push(alert) };
    const watch = createLogWatch(logger, registry, raiser);
    await watch.refused(error);
    await watch.refused(error);
    deepEqual(
      new Set(raised.map(({ id }) => id.replace(/\d{4}-\d\d-\d\d$/, 'DAY'))),
      new Set(['log.altered.checkpoint_missing.DAY']),
    );
    match(await registry.metrics(), /hookline_log_refusals_total\{reason="checkpoint_missing"\} 2/);
    const { subject, text } = renderAlerts({ alerts: raised.slice(0, 1), left_out: 0 });
    deepEqual(subject, 'Hookline: The log was altered and is not signed');
    match(
      text,
      /^The log was altered and is not signed at .* UTC\.\na checkpoint of 5 records was signed: the database was altered \(checkpoint_missing\)\n$/,
    );
  });

  it('alerts people when a witness refuses the log, and not when it is away', async () => {
    const raised: Alert[] = [];
    const raiser = { concerns: () => true, raise: async (alert: Alert) => void raised.push(alert) };
    const watch = createLogWatch(logger, new Registry(), raiser);
    await watch.notCosigned({ name: 'witness.example.com' }, 'it responded with 500', false);
    deepEqual(raised.length, 0);
    await watch.notCosigned({ name: 'witness.example.com' }, 'it saw 9 records, and the log has 5', true);
    match(raised[0]?.id ?? '', /^log\.refused\.witness\.example\.com\.\d{4}-\d\d-\d\d$/);
    const { subject, text } = renderAlerts({ alerts: raised, left_out: 0 });
    deepEqual(subject, 'Hookline: The log is refused by a witness');
    match(text, /did not cosign a checkpoint: it saw 9 records, and the log has 5/);
  });

  it('goes on when an alert cannot be raised, or nobody asked for it', async () => {
    const failing = { concerns: () => true, raise: () => Promise.reject(new Error('Temporal is away')) };
    await createLogWatch(logger, new Registry(), failing).refused(error);
    await createLogWatch(logger, new Registry(), { ...failing, concerns: () => false }).refused(error);
    await createLogWatch(logger, new Registry(), undefined).refused(error);
  });
});
