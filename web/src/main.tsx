import '@blueprintjs/core/lib/css/blueprint.css';
import './styles/tokens.css';
import './styles/shell.css';
import './styles/kit.css';
import './styles/table.css';
import { ApolloProvider } from '@apollo/client/react';
import { OverlaysProvider } from '@blueprintjs/core';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router-dom';
import { openConsoleClient } from './apollo.js';
import { CopyProvider } from './kit/CopyProvider.js';
import { ConfirmProvider } from './kit/form/ConfirmProvider.js';
import { leaveForLogin } from './kit/leave.js';
import { LiveConnectionContext } from './kit/live/liveConnection.js';
import { SessionProvider } from './kit/SessionProvider.js';
import { Toasts } from './kit/Toasts.js';
import { startTheme } from './kit/theme.js';
import { loadFailureTexts } from './kit/words/errors.js';
import { startLanguage } from './kit/words/i18n.js';
import { consoleRouter } from './routes.js';

startTheme();
startLanguage();
// Without them a refusal is shown in the server's own words.
loadFailureTexts().catch(() => {});

const { client, live } = openConsoleClient({ onSessionLost: leaveForLogin });
const router = consoleRouter();
const root = document.getElementById('console');
if (root === null) throw new Error('the page has no place for the console');

createRoot(root).render(
  <StrictMode>
    <OverlaysProvider>
      <ApolloProvider client={client}>
        <LiveConnectionContext value={live}>
          <Toasts />
          <SessionProvider>
            <CopyProvider>
              <ConfirmProvider>
                <RouterProvider router={router} />
              </ConfirmProvider>
            </CopyProvider>
          </SessionProvider>
        </LiveConnectionContext>
      </ApolloProvider>
    </OverlaysProvider>
  </StrictMode>,
);
