import { NotConvertible, type UpstreamChannel } from '../../contracts/protocol.js';

/* What kind of app a channel's key belongs to: its interface is another for each. */

type DifyAppKind = 'chat' | 'agent' | 'completion' | 'workflow';

interface DifyApp {
  readonly kind: DifyAppKind;
  /** The input variable that what is asked goes into, of apps without a conversation. */
  readonly variable: string;
}

const said = /^(chat|agent|completion|workflow)(?::([A-Za-z_]\w{0,99}))?$/;

export const difyPaths: Readonly<Record<DifyAppKind, string>> = {
  chat: '/v1/chat-messages',
  agent: '/v1/chat-messages',
  completion: '/v1/completion-messages',
  workflow: '/v1/workflows/run',
};

/** Throws NotConvertible. */
export function difyApp({ other }: Pick<UpstreamChannel, 'other'>): DifyApp {
  const [, kind, variable = 'query'] = said.exec(other.trim() || 'chat') ?? [];
  if (kind === undefined)
    throw new NotConvertible(
      'channel',
      'the kind of app of this channel is none of chat, agent, completion, workflow, completion:VARIABLE, workflow:VARIABLE',
    );
  return { kind: kind as DifyAppKind, variable };
}
