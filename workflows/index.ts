export { deliverEvent } from './deliver-event.js';
export { deliverGroup } from './deliver-group.js';
export { deliverTogether } from './deliver-together.js';
export { endpointIncident } from './endpoint-incident.js';
export { fanOutEvent } from './fan-out-event.js';
export { releaseParked } from './release-parked.js';
export { secretRotation } from './secret-rotation.js';
export { verifyEndpoint } from './verify-endpoint.js';
