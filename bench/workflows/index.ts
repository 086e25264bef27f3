/** The workflows that Hookline is compared with. */
export { empty } from './empty.js';
