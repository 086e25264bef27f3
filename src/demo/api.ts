/** A call to Hookline's own API, as any client would make it. @throws Error with the problem's detail where it is refused */
export async function callApi<T>(
  { apiUrl, apiKey }: { apiUrl: string; apiKey: string },
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const response = await fetch(`${apiUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer = text === '' ? undefined : JSON.parse(text);
  if (!response.ok)
    throw new Error(`${method} ${path} answered ${response.status}: ${answer?.detail ?? text}`);
  return answer as T;
}
