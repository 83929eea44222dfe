import '@blueprintjs/core/lib/css/blueprint.css';
import './styles/shell.css';
import './styles/shared.css';
import './styles/table.css';
import { ApolloProvider } from '@apollo/client/react';
import { OverlaysProvider } from '@blueprintjs/core';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router-dom';
import { openConsoleClient } from './apollo.js';
import { consoleRouter } from './routes.js';
import { CopyProvider } from './shared/copying.js';
import { ConfirmProvider } from './shared/form/confirm.js';
import { leaveForLogin } from './shared/leave.js';
import { LiveConnectionContext } from './shared/live/liveConnection.js';
import { SessionProvider } from './shared/session.js';
import { startTheme } from './shared/theme.js';
import { Toasts } from './shared/toaster.js';
import { startLanguage } from './shared/words/i18n.js';

startTheme();
startLanguage();

const { client, live } = openConsoleClient({ onSessionLost: leaveForLogin });
const router = consoleRouter();
const place = document.getElementById('console');
if (place === null) throw new Error('the page has no place for the console');

createRoot(place).render(
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
