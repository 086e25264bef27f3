import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How a text may stand in a file: plain, UTF-16, base64 at each of its three offsets, hexadecimal, percent-encoded. */
function formsOf(text: string): Map<string, Buffer> {
  const bytes = Buffer.from(text);
  const forms = new Map([
    ['plain', bytes],
    ['UTF-16', Buffer.from(text, 'utf16le')],
    ['hexadecimal', Buffer.from(bytes.toString('hex'))],
    ['percent-encoded', Buffer.from(encodeURIComponent(text))],
  ]);
  for (let offset = 0; offset < 3; offset += 1) {
    // Only characters that no neighbouring byte takes part in.
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    const first = Math.ceil((offset * 8) / 6);
    const end = Math.floor((padded.length * 8) / 6);
    for (const encoding of ['base64', 'base64url'] as const)
      forms.set(`${encoding} at ${offset}`, Buffer.from(padded.toString(encoding).slice(first, end)));
  }
  return forms;
}

/** Searches every file of a folder. @returns file and form of each hit */
export async function searchFiles(folder: string, text: string): Promise<string[]> {
  const forms = [...formsOf(text)];
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((one) =>
    one.isFile(),
  );
  const hits: string[] = [];
  for (const { parentPath, name } of files) {
    const content = await readFile(join(parentPath, name));
    for (const [form, bytes] of forms) if (content.includes(bytes)) hits.push(`${name}: ${form}`);
  }
  return hits;
}
