import { open, rename } from 'node:fs/promises';

/** Writes a file beside another and puts it in its place: whoever reads, and whatever stops this, there is a whole one. Resolves when it is durable. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const beside = `${path}.${process.pid}.new`;
  const file = await open(beside, 'w');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(beside, path);
}
