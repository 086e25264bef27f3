import { Tabs } from '@base-ui/react/tabs';
import { Code } from '../../../ui/copy.js';
import { SCHEMES, type Scheme } from './schemes.js';
import { LANGUAGES } from './snippets.js';

/** Code that verifies a delivery, in each language; with the endpoint's own secret while that is shown. */
export function VerifyCode({ scheme, secret }: { scheme: Scheme; secret: string | undefined }) {
  const { verify } = SCHEMES[scheme];
  if (typeof verify === 'string') return <p className="muted">{verify}</p>;
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
            <Code text={verify(id, secret)} name={`the ${name} code`} />
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
