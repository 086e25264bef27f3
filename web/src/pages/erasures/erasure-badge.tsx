import type { Erasure } from '../../api/types.js';
import { Badge, type Tone } from '../../ui/badge.js';

const STATUSES: Record<Erasure['status'], [Tone, string]> = {
  waiting: ['warn', 'Waiting'],
  erased: ['info', 'Erased'],
  complete: ['good', 'Complete'],
};

export function ErasureBadge({ status }: Pick<Erasure, 'status'>) {
  const [tone, text] = STATUSES[status];
  return <Badge tone={tone}>{text}</Badge>;
}
