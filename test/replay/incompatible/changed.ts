import * as workflows from '../../../workflows/index.js';

type Workflow = (input: never) => Promise<unknown>;
type Workflows = Record<keyof typeof workflows, Workflow>;

/** The workflows as they are, each with the same change. */
export function change(by: (workflow: Workflow) => Workflow): Workflows {
  return Object.fromEntries(
    Object.entries(workflows).map(([type, workflow]) => [type, by(workflow as Workflow)]),
  ) as Workflows;
}
