import { useEffect } from 'react';
import { useLook } from './look/use-look.js';

/** The head of a page: its title, which is also the window's, what leads to it, and what can be done. */
export function PageHead({
  title,
  heading,
  crumbs,
  about,
  actions,
}: {
  title: string;
  heading?: React.ReactNode;
  crumbs?: React.ReactNode;
  about?: React.ReactNode;
  actions?: React.ReactNode;
}) {
  const { name } = useLook();
  useEffect(() => {
    document.title = `${title} · ${name}`;
  }, [title, name]);
  return (
    <header className="page-head">
      <div>
        {crumbs && <div className="crumbs">{crumbs}</div>}
        <h1>{heading ?? title}</h1>
        {about && <div className="about muted">{about}</div>}
      </div>
      {actions && <div className="actions">{actions}</div>}
    </header>
  );
}

/** A part of a page, with a heading of its own. */
export function Card({
  title,
  actions,
  children,
  bare,
}: {
  title?: string;
  actions?: React.ReactNode;
  children: React.ReactNode;
  /** Without space around the content, as for tables. */
  bare?: boolean;
}) {
  return (
    <section className="card">
      {title && (
        <header>
          <h2>{title}</h2>
          {actions}
        </header>
      )}
      {bare ? children : <div className="body">{children}</div>}
    </section>
  );
}
