import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import crypto from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { MessagePort, Worker } from 'node:worker_threads';

/**
 * The service, whose main thread counts what it does most: on SIGUSR2 it writes the counts so far to the file
 * `BENCH_COUNTS`. Modules are loaded after the functions that are counted have been replaced.
 */
const counts: Record<string, number> = {};
// biome-ignore lint/suspicious/noExplicitAny: the functions of all these objects differ.
function count(name: string, owner: any, ...methods: string[]): void {
  counts[name] ??= 0;
  for (const method of methods) {
    const original = owner[method];
    owner[method] = function counted(this: unknown, ...parameters: unknown[]) {
      counts[name] = (counts[name] ?? 0) + 1;
      return Reflect.apply(original, this, parameters);
    };
  }
}

count('JSON texts made', JSON, 'stringify');
count('JSON texts parsed', JSON, 'parse');
count('HMACs', crypto, 'createHmac');
count('hashes', crypto, 'createHash', 'hash');
count('ciphers', crypto, 'createCipheriv', 'createDecipheriv');
count('buffers joined', Buffer, 'concat');
count('asynchronous contexts entered', AsyncLocalStorage.prototype, 'run', 'enterWith');
count('messages to threads', Worker.prototype, 'postMessage');
count('messages to threads', MessagePort.prototype, 'postMessage');
count('writes to sockets', Socket.prototype, '_writeGeneric');
count('timers', globalThis, 'setTimeout', 'setInterval', 'setImmediate');
syncBuiltinESMExports();
counts['promises'] = 0;
createHook({
  init(_id, type) {
    if (type === 'PROMISE') counts['promises'] = (counts['promises'] ?? 0) + 1;
  },
}).enable();
process.on('SIGUSR2', () => writeFileSync(process.env['BENCH_COUNTS'] ?? '', JSON.stringify(counts)));

await import('./serve.js');
