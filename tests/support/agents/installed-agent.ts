import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '../../../web/src/tokens/agentSetup.js';

/* Coding agents as their makers publish them, at pinned versions, installed where CODING_AGENTS_DIR says. */

interface Published {
  readonly from: 'npm' | 'PyPI';
  readonly name: string;
  readonly version: string;
}

export const published: Readonly<Record<Agent, Published>> = {
  claudeCode: { from: 'npm', name: '@anthropic-ai/claude-code', version: '2.1.332' },
  codex: { from: 'npm', name: '@openai/codex', version: '0.171.0' },
  geminiCli: { from: 'npm', name: '@google/gemini-cli', version: '0.61.0' },
  opencode: { from: 'npm', name: 'opencode-ai', version: '1.18.33' },
  aider: { from: 'PyPI', name: 'aider-chat', version: '0.86.2' },
};

/** Longest wait for one agent. They are large, and come from a registry. */
const installMs = 180_000;

interface Finished {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a program to its end, or for so long, without input. */
export function runToEnd(
  program: string,
  args: readonly string[],
  { cwd, env, timeoutMs }: { cwd: string; env: NodeJS.ProcessEnv; timeoutMs: number },
): Promise<Finished> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-100_000);
      });
    // With all that it has started.
    const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), timeoutMs);
    const end = (code: number | null, more = ''): void => {
      clearTimeout(timer);
      resolve({ code, output: output + more });
    };
    child.once('error', (error) => end(null, String(error)));
    child.once('close', (code) => end(code));
  });
}

export const path = { PATH: process.env.PATH ?? '' };

/** How to start the agent; a text: why it cannot be started here. */
export async function installedAgent(agent: Agent): Promise<{ readonly program: string } | string> {
  const directory = process.env.CODING_AGENTS_DIR;
  if (!directory) return 'CODING_AGENTS_DIR names no folder to install coding agents in';
  const { from, name, version } = published[agent];
  const home = join(directory, `${agent}-${version}`);
  const command = { claudeCode: 'claude', codex: 'codex', geminiCli: 'gemini', opencode: 'opencode', aider: 'aider' }[
    agent
  ];
  const program = from === 'npm' ? join(home, 'node_modules/.bin', command) : join(home, 'bin', command);
  const done = join(home, 'installed');
  if (existsSync(done)) return { program };
  mkdirSync(home, { recursive: true });
  // How registries are reached stands in the environment.
  const { env } = process;
  const run = (tool: string, args: readonly string[]) => runToEnd(tool, args, { cwd: home, env, timeoutMs: installMs });
  const steps: readonly (readonly [string, readonly string[]])[] =
    from === 'npm'
      ? [['npm', ['install', '--prefix', home, '--no-audit', '--no-fund', '--no-save', `${name}@${version}`]]]
      : [
          ['python3', ['-m', 'venv', home]],
          [join(home, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', `${name}==${version}`]],
        ];
  for (const [tool, args] of steps) {
    const { code, output } = await run(tool, args);
    if (code !== 0) return `${name} ${version} cannot be installed: ${output.trim().slice(-300)}`;
  }
  const { code, output } = await runToEnd(program, ['--version'], {
    cwd: home,
    env: { ...path, HOME: home },
    timeoutMs: 60_000,
  });
  if (code !== 0) return `${name} ${version} does not start here: ${output.trim().slice(-300)}`;
  writeFileSync(done, '');
  return { program };
}
