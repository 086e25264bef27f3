/** The workflows that Hookline is compared with. */
export { empty } from './empty.js';
export { leastDelivery } from './least-delivery.js';
