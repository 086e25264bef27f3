import { BUNDLE_PATH, buildWorkflowBundle } from '../temporal/bundle.js';

await buildWorkflowBundle(BUNDLE_PATH);
