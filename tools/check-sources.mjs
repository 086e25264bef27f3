// Two rules that no linter has: files stay short, and only named places read the environment. `node tools/check-sources.mjs [folder]`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDERS = ['src', 'workflows', 'activities', 'test', 'bench', 'tools'];
const MAX_LINES = 400;
/** What reads the environment besides tests, and why it may. */
const READS_ENVIRONMENT = {
  'src/config/load.ts': 'the one reader of settings',
  'src/bin/hookline.ts': 'how an error is shown, when the settings may be what is wrong',
  'src/embedded/binaries/find-binary.ts': 'PATH and the user’s cache folder, which are no settings of ours',
  'src/embedded/binaries/go-build.ts': 'passed on to the Go toolchain',
  'src/embedded/binaries/download.ts': 'passed on to the downloader: proxies, mirrors',
};

const root = process.argv[2] ?? '.';
const problems = [];
for (const folder of FOLDERS) {
  for (const name of list(join(root, folder))) {
    const file = `${folder}/${name}`;
    const text = readFileSync(join(root, file), 'utf8');
    const lines = text.trimEnd().split('\n').length;
    if (lines > MAX_LINES)
      problems.push(`${file}: ${lines} lines, more than ${MAX_LINES}: a file is about one thing`);
    const reads = /\bprocess\s*\.\s*env\b|\benv\b.*from 'node:process'/.test(text);
    if (reads && !/^(test|bench|tools)\//.test(file) && !(file in READS_ENVIRONMENT))
      problems.push(`${file}: reads process.env; add a setting to src/config/schema.ts instead`);
  }
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

function list(folder) {
  try {
    return readdirSync(folder, { recursive: true }).filter((name) => /\.[cm]?[jt]s$/.test(name));
  } catch {
    return []; // not every project has every folder
  }
}
