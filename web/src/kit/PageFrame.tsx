import { Callout } from '@blueprintjs/core';
import { type ReactNode, useEffect } from 'react';
import { useStatus } from './SessionProvider.js';

/** The tab's title: the page, then the gateway's name. */
export function useDocumentTitle(title: string): void {
  const { systemName } = useStatus();
  useEffect(() => {
    document.title = title === '' || title === systemName ? systemName : `${title} · ${systemName}`;
  }, [title, systemName]);
}

export interface PageFrameProps {
  readonly title: string;
  /** Buttons at the right of the title. */
  readonly actions?: ReactNode;
  /** A sentence under the title: what this page is for. */
  readonly help?: ReactNode;
  /** What must be read before the page is used. */
  readonly warning?: ReactNode;
  readonly children: ReactNode;
}

/** A page of the console: one heading, its actions, its content. */
export function PageFrame({ title, actions, help, warning, children }: PageFrameProps) {
  useDocumentTitle(title);
  return (
    <div className="page">
      <header className="page-header">
        <div>
          <h1 className="page-title">{title}</h1>
          {help !== undefined && <p className="page-help">{help}</p>}
        </div>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </header>
      {warning !== undefined && (
        <Callout intent="warning" compact className="page-warning">
          {warning}
        </Callout>
      )}
      {children}
    </div>
  );
}
