import assert from 'node:assert/strict';
import { EndpointHealth } from '../../../src/domain/endpoint/endpoint-health.js';

const SLOW_MS = 1_000;

describe('what a process knows of endpoints', () => {
  let now = 0;
  let health: EndpointHealth;
  beforeEach(() => {
    now = 0;
    health = new EndpointHealth(SLOW_MS, () => now);
  });

  it('takes an endpoint that answers quickly as healthy', () => {
    assert.equal(health.isUnhealthy('ep_1'), false);
    const over = health.begin('ep_1', true);
    assert.equal(health.directAttempts, 1);
    over(true);
    assert.equal(health.isUnhealthy('ep_1'), false);
    assert.equal(health.directAttempts, 0);
  });

  it('remembers a failure for a minute, or until a quick success', () => {
    health.begin('ep_1', true)(false);
    assert.equal(health.isUnhealthy('ep_1'), true);
    assert.equal(health.isUnhealthy('ep_2'), false);
    health.begin('ep_1', false)(true);
    assert.equal(health.isUnhealthy('ep_1'), false);
    health.begin('ep_1', false)(false);
    now = 59_999;
    assert.equal(health.isUnhealthy('ep_1'), true);
    now = 60_000;
    assert.equal(health.isUnhealthy('ep_1'), false);
  });

  it('knows that an endpoint hangs before its answer is overdue', () => {
    const over = health.begin('ep_1', true);
    now = SLOW_MS - 1;
    health.begin('ep_1', true);
    assert.equal(health.isUnhealthy('ep_1'), false);
    now = SLOW_MS;
    assert.equal(health.isUnhealthy('ep_1'), false, 'nobody was quick meanwhile, so it may be this process');
    health.begin('ep_2', true)(true);
    assert.equal(health.isUnhealthy('ep_1'), true);
    over(true); // taken, but slowly
    assert.equal(health.isUnhealthy('ep_1'), true);
    assert.equal(health.directAttempts, 1);
  });

  it('does not count the isolated lane', () => {
    health.begin('ep_1', false);
    now = 10 * SLOW_MS;
    assert.equal(health.directAttempts, 0);
    assert.equal(health.isUnhealthy('ep_1'), false);
  });

  it('forgets the oldest trouble beyond 10,000 endpoints', () => {
    for (let index = 0; index <= 10_000; index++) health.begin(`ep_${index}`, false)(false);
    assert.equal(health.isUnhealthy('ep_0'), false);
    assert.equal(health.isUnhealthy('ep_1'), true);
  });
});
