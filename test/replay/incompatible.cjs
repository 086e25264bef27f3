// What must not be released. This text is put behind the bundle of the workflows, and adds each of them twice more,
// changed: `first:TYPE` waits before it begins, `last:TYPE` once more before it ends.
{
  const importUnchanged = __TEMPORAL__.importWorkflows;
  const minute = () => new Promise((resolve) => setTimeout(resolve, 60_000));
  const first = (workflow) => async (input) => {
    await minute();
    return workflow(input);
  };
  const last = (workflow) => async (input) => {
    const result = await workflow(input);
    await minute();
    return result;
  };
  __TEMPORAL__.importWorkflows = () => {
    const workflows = importUnchanged();
    const changed = Object.entries(workflows).flatMap(([type, workflow]) => [
      [`first:${type}`, first(workflow)],
      [`last:${type}`, last(workflow)],
    ]);
    return { ...workflows, ...Object.fromEntries(changed) };
  };
}
