/**
 * The bytes of a body, read to its end.
 *
 * @throws Error if there are more than `most`: nothing behind them is read
 */
export async function readResponse(body: AsyncIterable<Buffer>, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > most) throw new Error(`its response is longer than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
