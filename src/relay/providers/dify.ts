import { other, usual } from '../../domain/channel/provider.js';
import type { Provider } from '../contracts/protocol.js';
import { difyWire } from '../protocols/dify/dify.js';
import { difyUploads } from '../protocols/dify/uploads.js';

/** https://docs.dify.ai/en/api-reference/guides/get-started; an app has a key of its own, and no models. */
export const dify: Provider = {
  ...usual,
  type: 37,
  name: 'Dify',
  defaultBaseUrl: 'https://api.dify.ai',
  defaultModels: ['dify'],
  colour: 'teal',
  keyHint: 'API key of one app',
  other: other('kind of app: chat, agent, completion or workflow; empty: chat; workflow:NAME names its input'),
  listsModels: false,
  modes: ['chat'],
  bringsPrompt: () => true,
  authorisation: difyUploads,
  hasNoLimit: () => true,
  protocol: difyWire,
};
