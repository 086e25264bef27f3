import { open, rename, rm } from 'node:fs/promises';

/**
 * Writes a file beside another and puts it in its place: whoever reads, and whatever stops this, there is a whole one.
 * Resolves when it is durable.
 *
 * @param mode of the file, whatever that of the one before was
 */
export async function replaceFile(
  path: string,
  text: string | AsyncIterable<string>,
  mode = 0o666,
): Promise<void> {
  const beside = `${path}.${process.pid}.new`;
  const file = await open(beside, 'w', mode);
  try {
    // It takes what is iterable as well, which its type does not say.
    await file.writeFile(text as string);
    await file.sync();
    await file.close();
    await rename(beside, path);
  } catch (error) {
    await file.close().catch(() => {});
    await rm(beside, { force: true });
    throw error;
  }
}
