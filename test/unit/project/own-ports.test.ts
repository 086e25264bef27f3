import assert from 'node:assert/strict';
import { portsOf } from '../../../src/bin/service/egress.js';
import { loadSettings } from '../../../src/config/load.js';

describe('the ports of the service and its servers', () => {
  it('are those of the API, Temporal, its UI, the SDK’s metrics and every MongoDB host', () => {
    const settings = loadSettings({
      HOOKLINE_PORT: '8001',
      TEMPORAL_ADDRESS: 'localhost:8002',
      TEMPORAL_UI_URL: 'http://localhost:8003/ui',
      HOOKLINE_TEMPORAL_METRICS_ADDRESS: '0.0.0.0:8004',
      MONGODB_URI: 'mongodb://user:secret@one:8005,two:8006/hookline?replicaSet=rs',
    });
    assert.deepEqual(portsOf(settings).sort(), [8001, 8002, 8003, 8004, 8005, 8006]);
  });

  it('do not include what no setting names', () => {
    const settings = loadSettings({ HOOKLINE_PORT: '0', TEMPORAL_UI_URL: 'https://temporal.example.com' });
    assert.deepEqual(portsOf(settings), []);
  });
});
