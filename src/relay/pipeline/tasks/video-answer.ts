import { fromUpstream, RelayError } from '../../contracts/errors.js';
import type { VideoVariant } from '../../contracts/video-files.js';
import { confidentialOf } from '../../protocols/confidential-of.js';
import type { Sending, UpstreamAnswer } from '../../upstream/upstream.js';
import { errorOfStatus, unreadableAnswer } from '../../upstream/upstream-error.js';
import { judged } from '../send-attempt.js';
import type { StagePorts } from '../stage-ports.js';
import { noSuchFile } from './video-errors.js';
import { type FileSource, openVideoFile, type WantedFile } from './video-source.js';

/* What an upstream answers to a request for a file of a video: the file, or why it is not given out. */

export interface AnsweredFile {
  readonly answer: UpstreamAnswer;
  readonly sending: Sending;
}

/** Whoever gets it cancels it. Throws RelayError: it is no file. */
export async function answeredFile(ports: StagePorts, wanted: WantedFile, from: FileSource): Promise<AnsweredFile> {
  const opened = await openVideoFile(ports, wanted, from);
  if (opened.answer.status === 200 || opened.answer.status === 206) return opened;
  try {
    throw await refusal(ports, wanted.variant, from, opened.answer);
  } finally {
    opened.sending.cancel();
  }
}

/** Bytes of a refusal. */
const maxRefusal = 1024 * 1024;

/** Upstream's, masked. */
async function refusal(
  ports: StagePorts,
  variant: VideoVariant,
  { keeper: { provider, channel, parsed }, user }: FileSource,
  { status, body }: UpstreamAnswer,
): Promise<RelayError> {
  if (status === 416)
    return new RelayError(416, 'range_not_satisfiable', 'the file is shorter than the range asked for');
  if (status === 404 || status === 410) return noSuchFile(variant);
  if (status < 400) return fromUpstream(unreadableAnswer(`the upstream answered with status ${status}`), 502);
  const slot = ports.answers.newSlot(user);
  try {
    const said = await body.whole(maxRefusal, slot).catch(() => Buffer.alloc(0));
    const error = errorOfStatus(status, said, confidentialOf(provider, channel));
    return judged(ports, { provider, parsed }, { error, costUnknown: false, request: '' }).error;
  } finally {
    slot.leave();
  }
}
