import { z } from 'zod';
import type { ExternalProfile } from '../application/ports/identity-provider-ports.js';
import { Failure } from '../domain/kernel/failure.js';
import { answerTimeoutMs, type IdentityProviderPorts, maxAnswerBytes, neededSecret } from './identity-provider.js';
import { profileText } from './profile-text.js';

/* WeChat by a relay of the operator's: whoever follows its account is given a code there, and the relay knows whose. */

const provider = 'wechat';

const answerShape = z.object({
  success: z.boolean(),
  message: z.string().nullish(),
  data: z.string().nullish(),
});

const maxIdLength = 255;

function parsed(body: Buffer): z.infer<typeof answerShape> | undefined {
  try {
    return answerShape.safeParse(JSON.parse(body.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Throws `provider-unreachable`, `wechat-code-wrong`; with what the relay has `said` where it says why. */
export async function identifyByWeChat(ports: IdentityProviderPorts, code: string): Promise<ExternalProfile> {
  const token = await neededSecret(ports, provider, 'WeChatServerToken');
  const address = ports.text('WeChatServerAddress').replace(/\/+$/, '');
  const unreachable = (reason: string): Failure => {
    ports.report({ provider, step: 'code', reason });
    return new Failure('provider-unreachable', { provider, step: 'code' });
  };
  const answer = await ports.outbound.fetch({
    url: `${address}/api/wechat/user?code=${encodeURIComponent(code)}`,
    headers: { authorization: token, accept: 'application/json' },
    timeoutMs: answerTimeoutMs,
    maxBytes: maxAnswerBytes,
  });
  if (!answer.ok) throw unreachable(answer.reason);
  const reported = parsed(answer.body);
  if (reported === undefined) throw unreachable('unreadable');
  const id = reported.data ?? '';
  if (!reported.success || id === '' || id.length > maxIdLength) {
    const said = reported.success ? '' : profileText(reported.message, 200);
    throw new Failure('wechat-code-wrong', said === '' || said.includes(token) ? {} : { said });
  }
  return { subject: id, shown: profileText(id, maxIdLength), username: null, displayName: 'WeChat User', email: null };
}
