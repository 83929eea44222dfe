import type { CallerDialect } from '../../../contracts/caller-dialect.js';
import { responsesCaller } from '../responses-dialect.js';
import { ResponsesChatWriter, responseOfChat } from './answer-writer.js';

/** How clients of the Responses interface are answered of an upstream that has chat. */
export const responsesInChatCaller: CallerDialect = {
  ...responsesCaller,
  wire: 'responses',
  writer: (caller, _channel, info) => new ResponsesChatWriter(caller, info),
  whole: responseOfChat,
};
