/* The commands that a page of the docs tells its reader to type, in the order of the page. */

const typed = /^(?:npm run|node) /;

/** Lines of code blocks, and code within the text; each once. */
export function commandsOn(page: string): readonly string[] {
  const commands: string[] = [];
  let isBlock = false;
  for (const line of page.split('\n')) {
    if (line.startsWith('```')) isBlock = !isBlock;
    else if (isBlock) commands.push(line.trim());
    else commands.push(...[...line.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code));
  }
  return [...new Set(commands.filter((command) => typed.test(command)))];
}

export interface TypedCommand {
  /** `npm run audit -- verify`: audit; `node verify-seals.mjs`: verify-seals.mjs. */
  readonly program: string;
  readonly args: readonly string[];
  /** Where its output goes; null: to the terminal. */
  readonly into: string | null;
}

/** As a shell takes it apart: no argument on the pages is quoted. */
export function typedCommand(command: string): TypedCommand {
  const [line = '', into = null] = command.split(' > ');
  const [, program = '', rest = ''] = /^(?:npm run (?:-s )?|node )(\S+)(?: --(?= ))?(?: (.*))?$/.exec(line) ?? [];
  return { program, args: rest === '' ? [] : rest.split(' '), into };
}
