/** In the place of what openapi-typescript generates, for the check of types here. */
export type { components, paths } from '../../../../clients/typescript/src/schema.js';
