import { BASE_PATH, currentRole, readSession, writeSession } from './session.js';

/**
 * Signs in by a link that `hookline dev` has printed, such as `/desk#code=…`. A person who is already signed in stays
 * signed in. The code is removed from the address at once; one that was used leads to the usual sign-in.
 */
export async function takeCodeFromLink(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code === null) return;
  history.replaceState(history.state, '', location.pathname + location.search);
  const role = currentRole();
  if (readSession(role)) return;
  const response = await fetch(`${BASE_PATH}/sign_in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  if (!response.ok) return;
  const signedIn = (await response.json()) as { role: string; token: string };
  if (signedIn.role === role) writeSession(role, { token: signedIn.token });
}
