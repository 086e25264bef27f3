import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { finishLogin } from '../api/oauth.js';
import { BASE_PATH } from '../api/session.js';
import { useRole } from '../ui/link.js';
import { Loading } from '../ui/states.js';

/** Where the OAuth server sends people back to: takes the code, and goes where they wanted to. */
export function SignedIn() {
  const role = useRole();
  const navigate = useNavigate();
  // The code works once, so it is used once, however often the component is shown.
  const login = useQuery({
    queryKey: ['login'],
    queryFn: finishLogin,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  useEffect(() => {
    if (login.data !== undefined)
      void navigate({ to: login.data.slice(BASE_PATH.length) || `/${role}`, replace: true });
  }, [login.data, navigate, role]);
  return (
    <div className="alone">
      <main>
        {login.error ? (
          <div className="card">
            <div className="body stack tight" role="alert">
              <h1>You are not signed in</h1>
              <p>{login.error.message}</p>
              <a className="button" href={`${BASE_PATH}/${role}`}>
                Sign in again
              </a>
            </div>
          </div>
        ) : (
          <Loading />
        )}
      </main>
    </div>
  );
}
