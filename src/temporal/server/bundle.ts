import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** The bundle beside the compiled code: what `npm run build` makes and every process loads. */
export const BUNDLE_PATH = fileURLToPath(new URL('../../../workflow-bundle.js', import.meta.url));

const WORKFLOWS_PATH = fileURLToPath(
  new URL(`../../../workflows/index${extname(import.meta.url)}`, import.meta.url),
);

/**
 * Bundles the workflows into one file. It fails if a workflow imports something that workflows must not.
 *
 * @param bundlePath where the bundle goes
 * @param workflowsPath the module that exports the workflows
 */
export async function buildWorkflowBundle(bundlePath: string, workflowsPath = WORKFLOWS_PATH): Promise<void> {
  const warnings: string[] = [];
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    // Loaded once, not for each execution: our modules keep no state between calls, and what is preloaded is frozen.
    preloadModules: [workflowsPath],
    logger: new DefaultLogger('WARN', ({ message }) => warnings.push(message)),
  });
  if (warnings.length > 0) throw new Error(`the workflow bundle has warnings:\n${warnings.join('\n')}`);
  await mkdir(dirname(bundlePath), { recursive: true });
  const partial = `${bundlePath}.${process.pid}`;
  await writeFile(partial, code);
  await rename(partial, bundlePath);
}
