import { mkdirSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { type Logger, pino } from 'pino';
import { openPrivateFile } from '../../../packages/embedded-servers/src/index.js';
import type { Settings } from '../../config/schema.js';
import { installRuntime } from '../../temporal/server/connection.js';

/** A path as it is shown: seen from the current folder, where it lies in it. */
export function shortPath(path: string): string {
  const seen = relative('', path);
  return seen.startsWith('..') ? path : seen;
}

/**
 * The log of this process, which the Temporal SDK writes to as well. Call it once, first of all.
 *
 * @param file where it goes instead of to standard output
 */
export function createLogger(settings: Settings, file?: string): Logger {
  if (file) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Opened at once: a process that ends before its log is open ends with an error of the log.
  const destination = file
    ? pino.destination({ dest: openPrivateFile(file), sync: false })
    : pino.destination(1);
  const logger = pino(
    {
      level: settings.HOOKLINE_LOG_LEVEL,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      // By name, such as "warn": people read logs, too.
      formatters: { level: (level) => ({ level }) },
    },
    destination,
  );
  installRuntime(logger, settings.HOOKLINE_TEMPORAL_METRICS_ADDRESS);
  return logger;
}
