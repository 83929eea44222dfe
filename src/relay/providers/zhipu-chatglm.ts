import { usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { chatglmFailure, chatglmTranslation, isLastOfChatglm } from '../protocols/chatglm/answer.js';
import { chatglmRequest } from '../protocols/chatglm/request.js';
import { ChatglmStream } from '../protocols/chatglm/stream.js';
import { openAi } from '../protocols/openai/openai.js';

/* Version 3 of Zhipu's interface, as its own SDK of that time (zhipuai 1.0.7) has it. Its models are discontinued. */

const family = openAi({ failure: chatglmFailure, translate: chatglmTranslation, isLast: isLastOfChatglm });

export const zhipuChatglm: Provider = {
  ...usual,
  type: 16,
  name: 'Zhipu ChatGLM',
  defaultBaseUrl: 'https://open.bigmodel.cn',
  defaultModels: modelList(`
    chatglm_turbo chatglm_pro chatglm_std chatglm_lite
  `),
  colour: 'violet',
  keyHint: 'id.secret',
  keyForm: { pattern: /^[^.\s]+\.[^.\s]+$/, allowed: 'id.secret, two parts' },
  listsModels: false,
  deprecated: true,
  modes: ['chat'],
  hasNoLimit: () => true,
  protocol: {
    ...family,
    request: chatglmRequest,
    stream: (opened) => new ChatglmStream(family.stream(opened)),
  },
};
