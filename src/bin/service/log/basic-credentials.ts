/** A URL without the user and password in it, which are sent as Basic authentication, and so stand in no error. */
export function basicCredentials(url: URL): { address: URL; headers: { authorization?: string } } {
  const { username, password } = url;
  const address = new URL(url);
  address.username = '';
  address.password = '';
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return {
    address,
    headers: username === '' ? {} : { authorization: `Basic ${basic.toString('base64')}` },
  };
}
