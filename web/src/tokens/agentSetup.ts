import { type FirstCall, inShell, quoted } from './tokenSnippets.js';

/* What coding agents need to call here. tests/journeys/agents starts the agents themselves with exactly these lines. */

export const agents = ['claudeCode', 'codex', 'geminiCli', 'opencode', 'aider'] as const;
export type Agent = (typeof agents)[number];

export interface AgentSetup {
  /** null: it needs none. */
  readonly file: { readonly path: string; readonly text: string } | null;
  /** For the shell in which it is started. */
  readonly env: readonly (readonly [name: string, value: string])[];
  /** That starts it. */
  readonly command: string;
}

/** Of a setting that holds the key, so that no file does. */
const keyName = 'TALLYGATE_API_KEY';

const setups: Readonly<Record<Agent, (call: FirstCall) => AgentSetup>> = {
  claudeCode: ({ address, key, model }) => ({
    file: null,
    env: [
      ['ANTHROPIC_BASE_URL', address],
      ['ANTHROPIC_AUTH_TOKEN', key],
      ['ANTHROPIC_MODEL', model],
      // For what it does beside the conversation; its own choice may not be served here.
      ['ANTHROPIC_DEFAULT_HAIKU_MODEL', model],
    ],
    command: 'claude',
  }),
  codex: ({ address, key, model }) => ({
    file: {
      path: '~/.codex/config.toml',
      text: [
        `model = ${quoted(model)}`,
        'model_provider = "tallygate"',
        // A search that the provider runs, which upstreams without Responses do not have.
        'web_search = "disabled"',
        '',
        '[model_providers.tallygate]',
        'name = "Tallygate"',
        `base_url = ${quoted(`${address}/v1`)}`,
        `env_key = "${keyName}"`,
        'wire_api = "responses"',
      ].join('\n'),
    },
    env: [[keyName, key]],
    command: 'codex',
  }),
  geminiCli: ({ address, key, model }) => ({
    file: {
      path: '~/.gemini/settings.json',
      text: JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }, null, 2),
    },
    env: [
      ['GOOGLE_GEMINI_BASE_URL', address],
      ['GEMINI_API_KEY', key],
      ['GEMINI_MODEL', model],
    ],
    command: 'gemini',
  }),
  opencode: ({ address, key, model }) => ({
    file: {
      path: '~/.config/opencode/opencode.json',
      text: JSON.stringify(
        {
          $schema: 'https://opencode.ai/config.json',
          model: `tallygate/${model}`,
          provider: {
            tallygate: {
              npm: '@ai-sdk/openai-compatible',
              name: 'Tallygate',
              options: { baseURL: `${address}/v1`, apiKey: `{env:${keyName}}` },
              models: { [model]: { name: model } },
            },
          },
        },
        null,
        2,
      ),
    },
    env: [[keyName, key]],
    command: 'opencode',
  }),
  aider: ({ address, key, model }) => ({
    file: null,
    env: [
      ['OPENAI_API_BASE', `${address}/v1`],
      ['OPENAI_API_KEY', key],
      ['AIDER_MODEL', `openai/${model}`],
    ],
    command: 'aider',
  }),
};

export const agentSetup = (agent: Agent, call: FirstCall): AgentSetup => setups[agent](call);

/** The lines for a shell, which end with the command. */
export const shellLines = ({ env, command }: AgentSetup): string =>
  [...env.map(([name, value]) => `export ${name}=${inShell(value)}`), command].join('\n');
