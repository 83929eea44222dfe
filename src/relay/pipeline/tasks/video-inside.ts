import type { TaskId } from '../../../domain/kernel/ids.js';
import { brokenOff } from '../../answers/lost-answer.js';
import { fromUpstream, RelayError } from '../../contracts/errors.js';
import type { VideoFile, VideoSource, VideoVariant } from '../../contracts/video-files.js';
import type { HttpCaller } from '../../delivery/http-caller.js';
import { writeToEnd } from '../../delivery/write-answer.js';
import { Lost } from '../../upstream/upstream-response.js';
import type { StagePorts } from '../stage-ports.js';
import { answeredFile } from './video-answer.js';
import { noSuchFile } from './video-errors.js';
import type { FileSource } from './video-source.js';

/* Files of videos that stand in base64 in a JSON answer: read whole, held for a while, and given out by range. */

interface WantedPart {
  readonly taskId: TaskId;
  readonly variant: VideoVariant;
  /** From 0. */
  readonly index: number;
}

/** Its upstream is asked once for all who want it at the same time or soon after. Throws RelayError. */
export const fileInside = (
  ports: StagePorts,
  wanted: WantedPart,
  from: FileSource,
  inside: NonNullable<VideoSource['inside']>,
): Promise<VideoFile> =>
  ports.heldFiles.file(`${wanted.taskId} ${wanted.variant} ${wanted.index}`, () =>
    readFile(ports, wanted, from, inside),
  );

/** It goes on whether or not the one who has asked first is still there: others may wait for it. */
async function readFile(
  ports: StagePorts,
  { variant, index }: WantedPart,
  from: FileSource,
  inside: NonNullable<VideoSource['inside']>,
): Promise<VideoFile> {
  const { answers, largeWork } = ports;
  const { answer, sending } = await answeredFile(ports, { variant, range: undefined }, from);
  const slot = answers.newSlot(from.user);
  try {
    const bytes = await answer.body.whole(answers.maxBytes, slot);
    const file = await largeWork.run(bytes.length, () => inside(bytes, index));
    if (file === null) throw noSuchFile(variant);
    return file;
  } catch (error) {
    if (error instanceof Lost) throw fromUpstream(brokenOff('read_response_body_failed'), 500);
    throw error;
  } finally {
    slot.leave();
    sending.cancel();
  }
}

interface Part {
  readonly from: number;
  readonly to: number;
}

/** `bytes=2-` of ten → from 2 to 9. null: all of it. Throws RelayError: the file is shorter. */
function partOf(range: string | undefined, length: number): Part | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range ?? '') ?? [];
  if (first === '' && last === '') return null;
  if (first !== '' && last !== '' && Number(first) > Number(last)) return null;
  const from = first === '' ? Math.max(length - Number(last), 0) : Number(first);
  const to = first === '' || last === '' ? length - 1 : Math.min(Number(last), length - 1);
  if (from <= to) return { from, to };
  throw new RelayError(416, 'range_not_satisfiable', 'the file is shorter than the range asked for');
}

interface Delivery {
  /** As its caller has sent it. */
  readonly range: string | undefined;
  readonly isHead: boolean;
  /** Names and values in turn, beside those of every answer. */
  readonly headers: readonly string[];
}

export async function sendPart(
  { stalledCallers }: Pick<StagePorts, 'stalledCallers'>,
  connection: HttpCaller,
  { type, bytes }: VideoFile,
  { range, isHead, headers }: Delivery,
): Promise<void> {
  const part = partOf(range, bytes.length);
  const sent = part === null ? bytes : bytes.subarray(part.from, part.to + 1);
  const ranges = part === null ? [] : ['content-range', `bytes ${part.from}-${part.to}/${bytes.length}`];
  if (connection.gone) return;
  connection.begin(type, [...headers, 'accept-ranges', 'bytes', ...ranges], sent.length, part === null ? 200 : 206);
  if (isHead) return connection.end();
  await writeToEnd(connection, sent, stalledCallers);
}
