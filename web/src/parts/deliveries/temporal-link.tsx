import { useHome } from '../../shell/use-session.js';
import { Copyable } from '../../ui/copy.js';
import { Icon } from '../../ui/icons.js';

/** A link to an execution in Temporal UI, if this installation has one; otherwise its id. */
export function TemporalLink({ workflowId, runId }: { workflowId: string; runId: string }) {
  const ui = useHome().data?.temporal_ui;
  if (!ui) return <Copyable text={workflowId} name="the workflow id" />;
  const path = ['namespaces', ui.namespace, 'workflows', workflowId, runId, 'history']
    .map(encodeURIComponent)
    .join('/');
  return (
    <a href={`${ui.url}/${path}`} target="_blank" rel="noreferrer" className="row">
      Open in Temporal UI <Icon name="external" />
    </a>
  );
}
