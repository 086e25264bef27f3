import { Tabs } from '@base-ui/react/tabs';
import { useNavigate, useSearch } from '@tanstack/react-router';

interface Tab {
  /** As `tab` of the address. */
  name: string;
  text: string;
  panel: React.ReactNode;
}

/**
 * Parts of a page of which one is shown: the first, or the one that the address names.
 *
 * @param tabs what is not offered is left out
 */
export function PageTabs({ label, tabs }: { label: string; tabs: readonly (Tab | false)[] }) {
  const offered = tabs.filter((tab) => tab !== false);
  const { tab } = useSearch({ strict: false }) as { tab?: string };
  const navigate = useNavigate();
  const shown = offered.find(({ name }) => name === tab) ?? offered[0];
  return (
    <Tabs.Root
      className="tabs"
      value={shown?.name}
      onValueChange={(next: string) =>
        void navigate({ to: '.', search: { tab: next }, replace: true } as never)
      }
    >
      <Tabs.List aria-label={label}>
        {offered.map(({ name, text }) => (
          <Tabs.Tab key={name} value={name}>
            {text}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {offered.map(({ name, panel }) => (
        <Tabs.Panel key={name} value={name}>
          {panel}
        </Tabs.Panel>
      ))}
    </Tabs.Root>
  );
}
