import { useEffect, useState } from 'react';
import { copyText } from '../files/copy-text.js';
import { Icon } from './icons.js';

/** A button that copies a text. @param name what is copied, for the button's name */
export function CopyButton({ text, name }: { text: string; name: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <button
      type="button"
      className="icon-button copy"
      aria-label={copied ? 'Copied' : `Copy ${name}`}
      title={copied ? 'Copied' : `Copy ${name}`}
      onClick={() => void copyText(text).then(setCopied)}
    >
      <Icon name={copied ? 'check' : 'copy'} />
    </button>
  );
}

/** An id or an address that people copy. */
export function Copyable({
  text,
  name,
  children,
}: {
  text: string;
  name: string;
  children?: React.ReactNode;
}) {
  return (
    <span className="copyable">
      {children ?? <code>{text}</code>}
      <CopyButton text={text} name={name} />
    </span>
  );
}

/** A block of code or of a message. It scrolls, so the keyboard can reach it. */
export function Code({
  text,
  name,
  copied = text,
}: {
  text: string;
  name: string;
  /** Text that is copied, if it differs. */
  copied?: string;
}) {
  return (
    <div className="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <CopyButton text={copied} name={name} />
    </div>
  );
}

/** JSON as people read it. */
export function toPrettyJson(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? '';
}
