import { Card } from '@blueprintjs/core';
import type { ReactNode } from 'react';
import { useDocumentTitle } from './PageFrame.js';
import { useStatus } from './SessionProvider.js';

/** The card in the middle of the pages before one is signed in. */
export function SignInCard({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const { logo } = useStatus();
  useDocumentTitle(title);
  return (
    <div className="sign-in-page">
      <Card className="sign-in-card">
        <header className="sign-in-header">
          <img src={logo === '' ? '/logo.svg' : logo} alt="" width={40} height={40} />
          <h1 className="page-title">{title}</h1>
        </header>
        {children}
      </Card>
    </div>
  );
}
