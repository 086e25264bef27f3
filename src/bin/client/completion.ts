import { type Command, CommandError } from '../command.js';

/** Words that can be typed after a command. */
type Completable = Pick<Command, 'summary' | 'actions' | 'options'>;

type Commands = Readonly<Record<string, Completable>>;

const SHELLS: Record<string, (commands: Commands) => string> = { bash, zsh, fish };

/**
 * A script that completes commands, actions and options in a shell.
 *
 * @throws CommandError for a shell that it does not know
 */
export function completion(shell: string | undefined, commands: Commands): string {
  const write = Object.hasOwn(SHELLS, shell ?? '') ? SHELLS[shell ?? ''] : undefined;
  if (!write) {
    throw new CommandError(
      'Name the shell: hookline completion bash, zsh or fish. For bash: source <(hookline completion bash)',
    );
  }
  return write(commands);
}

function wordsOf({ actions = [], options = {} }: Completable): string {
  return [...actions, ...Object.keys(options).map((name) => `--${name}`), '--help'].join(' ');
}

function bash(commands: Commands): string {
  const cases = Object.entries(commands).map(
    ([name, command]) => `    ${name}) words="${wordsOf(command)}" ;;`,
  );
  return `_hookline() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then words="${Object.keys(commands).join(' ')} help"
  else case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _hookline hookline
`;
}

function zsh(commands: Commands): string {
  const names = Object.entries(commands).map(([name, { summary }]) => `    '${name}:${quoted(summary)}'`);
  const cases = Object.entries(commands).map(
    ([name, command]) => `    ${name}) compadd -- ${wordsOf(command)}; _files ;;`,
  );
  return `#compdef hookline
_hookline() {
  local -a commands=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  case "$words[2]" in
${cases.join('\n')}
  esac
}
compdef _hookline hookline
`;
}

function fish(commands: Commands): string {
  const lines = Object.entries(commands).flatMap(([name, { summary, actions = [], options = {} }]) => {
    const after = `complete -c hookline -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c hookline -f -n __fish_use_subcommand -a ${name} -d '${quoted(summary)}'`,
      ...(actions.length > 0 ? [`${after} -f -a '${actions.join(' ')}'`] : []),
      ...Object.keys(options).map((option) => `${after} -l ${option}`),
    ];
  });
  return `${lines.join('\n')}\n`;
}

/** Within single quotes, as all three shells read them. */
function quoted(text: string): string {
  return text.replaceAll("'", "'\\''");
}
