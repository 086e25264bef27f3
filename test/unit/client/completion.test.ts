import { deepEqual, equal, match, throws } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { completion } from '../../../src/bin/client/completion.js';
import { COMMANDS } from '../../../src/bin/commands.js';

/** Completions that bash offers for a line, whose last word is being typed. */
function offered(line: string): string[] {
  const words = line.split(' ');
  const script = `${completion('bash', COMMANDS)}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _hookline; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  equal(status, 0, stderr);
  return stdout.trim().split('\n');
}

describe('completion', () => {
  it('offers commands, actions and options in bash', () => {
    deepEqual(offered('hookline tr'), ['trigger']);
    deepEqual(offered('hookline endpoints pa'), ['pause']);
    deepEqual(offered('hookline replay --d'), ['--dry-run', '--detach']);
  });

  it('has every command in zsh and fish, and quotes what their summaries say', () => {
    for (const shell of ['zsh', 'fish']) {
      const script = completion(shell, COMMANDS);
      for (const name of Object.keys(COMMANDS)) match(script, new RegExp(`\\b${name}\\b`));
      // An apostrophe in a summary must not end the text in quotes.
      equal((script.replaceAll("'\\''", '').match(/'/g) ?? []).length % 2, 0);
    }
  });

  it('names the shells that it knows', () => {
    throws(() => completion('toString', COMMANDS), /bash, zsh or fish/);
  });
});
