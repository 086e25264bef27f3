import { BUNDLE_PATH, buildWorkflowBundle } from '../temporal/server/bundle.js';

await buildWorkflowBundle(BUNDLE_PATH);
