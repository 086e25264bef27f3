import { open, rename, rm } from 'node:fs/promises';

/**
 * Writes a file beside another and puts it in its place: whoever reads, and whatever stops this, there is a whole one.
 * Resolves when it is durable.
 *
 * @param mode of the file, whatever that of the one before was; absent: as files are made here
 */
export async function replaceFile(
  path: string,
  text: string | AsyncIterable<string>,
  mode?: number,
): Promise<void> {
  const beside = `${path}.${process.pid}.new`;
  const file = await open(beside, 'w', mode);
  try {
    // One that was left there keeps its mode otherwise.
    if (mode !== undefined) await file.chmod(mode);
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
