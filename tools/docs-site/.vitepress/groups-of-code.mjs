/** A fence whose info has a label, such as ```sh [curl]. */
const LABEL = /\[[^\]]+\]\s*$/;

/**
 * Shows code blocks that follow each other, and have labels, as tabs: the code groups of VitePress, without their
 * marks, which those who read the file would see.
 *
 * @param {import('markdown-it').default} md
 */
export function groupsOfCode(md) {
  md.core.ruler.after('block', 'groups-of-code', (state) => {
    const tokens = [];
    for (let at = 0; at < state.tokens.length; ) {
      let end = at;
      while (state.tokens[end]?.type === 'fence' && LABEL.test(state.tokens[end].info)) end += 1;
      if (end - at < 2) tokens.push(state.tokens[at++]);
      else {
        const group = md.parse('::: code-group\n:::\n', {});
        tokens.push(group[0], ...state.tokens.slice(at, end), group[group.length - 1]);
        at = end;
      }
    }
    state.tokens = tokens;
  });
}
