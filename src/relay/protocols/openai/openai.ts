import { isImageMode } from '../../../domain/channel/provider.js';
import { type CallerRequest, NotConvertible, type Protocol, type UpstreamChannel } from '../../contracts/protocol.js';
import { openAiAnswer } from './answer.js';
import { chatAsResponses } from './chat-as-responses.js';
import { imagesAnswer } from './images.js';
import { ImagesStream } from './images-stream.js';
import { addressesToInline } from './inlined-pictures.js';
import { moderationAnswer } from './moderation.js';
import { realtimeRequest } from './realtime-request.js';
import { openAiRequest } from './request.js';
import { rerankAnswer } from './rerank.js';
import { responsesAnswer } from './responses-answer.js';
import { responsesAsChat } from './responses-as-chat.js';
import { ResponsesAsChatStream } from './responses-as-chat-stream.js';
import { responsesRequest } from './responses-request.js';
import { ResponsesStream } from './responses-stream.js';
import { SoundAsEvents, SpeechStream } from './speech-stream.js';
import { OpenAiStream } from './stream.js';
import { isTranscript, transcriptAnswer } from './transcript.js';
import { TranscriptStream } from './transcript-stream.js';
import type { OpenAiVariant } from './variant.js';

interface Asked {
  readonly caller: Pick<CallerRequest, 'mode'>;
  readonly channel: Pick<UpstreamChannel, 'responsesOnly'>;
}

const isResponses = ({ caller }: Asked): boolean => caller.mode === 'responses';

const isChatByResponses = ({ caller, channel }: Asked): boolean =>
  caller.mode === 'chat' && channel.responsesOnly === true;

const isImages = ({ caller }: Asked): boolean => isImageMode(caller.mode);

const completionsRefused = (): NotConvertible =>
  new NotConvertible('caller', 'this upstream has the Responses API alone, and takes no completions');

/** The OpenAI wire family: one codec, and a variant per provider. */
export const openAi = (variant: OpenAiVariant = {}): Protocol => ({
  ...(variant.inlinesPictures && { pictures: addressesToInline }),
  request(asked) {
    if (isResponses(asked)) return responsesRequest(variant, asked);
    if (asked.caller.mode === 'realtime') return realtimeRequest(variant, asked);
    if (isChatByResponses(asked)) return chatAsResponses(variant, asked);
    if (asked.channel.responsesOnly === true && asked.caller.mode === 'completions') throw completionsRefused();
    return openAiRequest(variant, asked);
  },
  answer(received) {
    if (isResponses(received)) return responsesAnswer(variant, received);
    if (isChatByResponses(received)) return responsesAsChat(variant, received);
    if (received.caller.mode === 'rerank') return rerankAnswer(variant, received);
    if (received.caller.mode === 'moderation') return moderationAnswer(variant, received);
    if (isImages(received)) return imagesAnswer(variant, received);
    return isTranscript(received.caller) ? transcriptAnswer(variant, received) : openAiAnswer(variant, received);
  },
  stream(opened) {
    if (isResponses(opened)) return new ResponsesStream(variant, opened);
    if (isImages(opened)) return new ImagesStream(variant, opened);
    if (isTranscript(opened.caller)) return new TranscriptStream(variant, opened);
    if (opened.caller.mode === 'speech')
      return opened.comesAsSound === true ? new SoundAsEvents(opened) : new SpeechStream(variant, opened);
    return isChatByResponses(opened) ? new ResponsesAsChatStream(variant, opened) : new OpenAiStream(variant, opened);
  },
});
