import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';
import './styles/tables.css';
import './styles/forms.css';
import './styles/delivery.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { hashKey, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { takeClientFromLink, takeTokenFromLink } from './api/offers.js';
import { forgetRateLimits } from './api/rate-limits.js';
import { actingAccount } from './api/scope.js';
import { subscribe } from './api/session.js';
import { takeCodeFromLink } from './api/sign-in-code.js';
import { createAppRouter } from './routes.js';
import { applyTheme } from './shell/theme.js';
import { Toasts } from './ui/toast.js';

takeTokenFromLink();
takeClientFromLink();
await takeCodeFromLink();
// A link that is opened where the page is open already changes the fragment alone.
addEventListener('hashchange', takeTokenFromLink);
applyTheme();

const queryClient = new QueryClient({
  defaultOptions: {
    // The client tries again what may be tried again. Data read for one account is not shown for another.
    queries: {
      staleTime: 2_000,
      retry: false,
      queryKeyHashFn: (key) => hashKey([actingAccount() ?? '', ...key]),
    },
    mutations: { retry: false },
  },
});
// The next person to sign in in this tab must never see data that was read for somebody else.
subscribe((ended) => {
  if (!ended) return;
  queryClient.clear();
  forgetRateLimits();
});
const router = createAppRouter();

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Toasts />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
