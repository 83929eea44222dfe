import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Agent, agentSetup, agents, shellLines } from '../../web/src/tokens/agentSetup.js';
import { published } from '../support/agents/installed-agent.js';

const page = readFileSync('docs/coding-agents.md', 'utf8');
const models: Readonly<Record<Agent, string>> = {
  claudeCode: 'claude-sonnet-5',
  codex: 'gpt-5',
  geminiCli: 'gemini-2.5-pro',
  opencode: 'gpt-5',
  aider: 'gpt-5',
};

test.each(agents)('the page about coding agents has for %s the lines that are tested', (agent) => {
  const setup = agentSetup(agent, { address: 'https://gateway.example', key: 'sk-KEY', model: models[agent] });
  expect(page).toContain(`\`\`\`sh\n${shellLines(setup)}\n\`\`\``);
  if (setup.file !== null) expect(page).toContain(`\n${setup.file.text}\n\`\`\``);
});

test.each(agents)('the page about coding agents names the version of %s that is tested', (agent) => {
  expect(page).toContain(`| ${published[agent].version} |`);
});
