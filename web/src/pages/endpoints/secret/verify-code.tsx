import { Tabs } from '@base-ui/react/tabs';
import { Code } from '../../../ui/copy.js';
import type { Keys } from './keys.js';
import { LANGUAGES, snippet } from './snippets.js';

/** Code that verifies a delivery, in six languages; with the endpoint's own secret while that is shown. */
export function VerifyCode({ keys }: { keys: Keys | undefined }) {
  if (keys?.signature_scheme === 'v1a')
    return (
      <p className="muted">
        This endpoint's deliveries are signed with a key pair (v1a, ed25519). Verify them with the public key
        and a library of Standard Webhooks that knows v1a.
      </p>
    );
  return (
    <div className="stack tight">
      <h2>Verify deliveries in your application</h2>
      <Tabs.Root className="tabs" defaultValue={LANGUAGES[0].id}>
        <Tabs.List aria-label="Language">
          {LANGUAGES.map(({ id, name }) => (
            <Tabs.Tab key={id} value={id}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {LANGUAGES.map(({ id, name }) => (
          <Tabs.Panel key={id} value={id}>
            <Code text={snippet(id, keys?.secret)} name={`the ${name} code`} />
          </Tabs.Panel>
        ))}
      </Tabs.Root>
      <p className="muted small">
        Verify the body as it was received, before you parse it: the signature covers each of its bytes. The
        value of webhook-id is the same in each attempt, so it tells you what you have had already.
      </p>
    </div>
  );
}
