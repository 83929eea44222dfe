import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '../../../web/src/tokens/agentSetup.js';
import type { Answer, ReceivedRequest } from '../upstreams/dialect-upstreams.js';

/* How coding agents are started without a terminal, what they are answered, and by what is seen that they acted on it. */

export interface DrivenAgent {
  /** Behind its command: carry this out, ask nobody, end. */
  readonly args: readonly string[];
  /** What keeps it from calling anybody else than the gateway. */
  readonly env: Readonly<Record<string, string>>;
  readonly answer: (received: Pick<ReceivedRequest, 'tools' | 'results'>) => Answer;
  /** Holds `proof` if it did what it was answered. */
  readonly result: (output: string, directory: string) => string;
  /** Calls that it makes at least. */
  readonly calls: number;
}

const prompt = 'What does the command print?';
/** A shell has to carry it out: what it prints does not stand in it. Some agents refuse to expand `$`. */
const command = "printf 'ledger-%d' 42";
export const proof = 'ledger-42';

/** Commands first; what the command has printed is said back, so that it shows that its result arrived. */
const commanding =
  (tool: string, args: Readonly<Record<string, string>>) =>
  ({ tools, results }: Pick<ReceivedRequest, 'tools' | 'results'>): Answer => {
    const result = results.at(-1);
    if (result !== undefined) return { text: `It prints: ${/ledger-\d+/.exec(result)?.[0] ?? 'something else'}.` };
    // Some ask for a title beside the conversation, without tools.
    return tools.includes(tool) ? { calls: [{ name: tool, args }] } : { text: 'A title' };
  };

const said = (output: string): string => output;

export const drivenAgents: Readonly<Record<Agent, DrivenAgent>> = {
  claudeCode: {
    args: ['-p', prompt, '--permission-mode', 'bypassPermissions'],
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1', IS_SANDBOX: '1' },
    answer: commanding('Bash', { command, description: 'Prints a number' }),
    result: said,
    calls: 2,
  },
  codex: {
    args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
    env: {},
    answer: commanding('exec_command', { cmd: command }),
    result: said,
    calls: 2,
  },
  geminiCli: {
    args: ['--yolo', '--skip-trust', '-p', prompt],
    env: { GEMINI_TELEMETRY_ENABLED: 'false' },
    answer: commanding('run_shell_command', { command, description: 'Prints a number' }),
    result: said,
    calls: 2,
  },
  opencode: {
    args: ['run', prompt],
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
    answer: commanding('bash', { command, description: 'Prints a number' }),
    result: said,
    calls: 2,
  },
  // It has no tools: it edits files as the answer says.
  aider: {
    args: [
      ...['--message', 'Write the number into ledger.txt', '--yes-always', '--no-git', '--edit-format', 'whole'],
      ...['--no-check-update', '--analytics-disable', '--no-show-model-warnings', '--no-show-release-notes'],
    ],
    env: { LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
    answer: () => ({ text: `ledger.txt\n\`\`\`\n${proof}\n\`\`\`\n` }),
    result: (_, directory) => readFileSync(join(directory, 'ledger.txt'), 'utf8'),
    calls: 1,
  },
};
