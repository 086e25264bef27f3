// Makes a replica set of the one server, if it is none yet, and waits until it takes writes. May be run any number of times.
const password = require('node:fs').readFileSync('/run/keys/root.password', 'utf8').trim();
const admin = new Mongo(`mongodb://root:${password}@mongodb:27017/?directConnection=true`).getDB('admin');
const NOT_YET_INITIALIZED = 94;

try {
  admin.runCommand({ replSetGetStatus: 1 });
} catch (error) {
  if (error.code !== NOT_YET_INITIALIZED) throw error;
  admin.runCommand({ replSetInitiate: { _id: 'rs0', members: [{ _id: 0, host: 'mongodb:27017' }] } });
}
for (let tries = 0; !admin.runCommand({ hello: 1 }).isWritablePrimary; tries += 1) {
  if (tries === 120) throw new Error('MongoDB has not become primary within a minute.');
  sleep(500);
}
print('MongoDB is a replica set of one server.');
