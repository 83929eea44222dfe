import type { PaidMode } from '../../../../domain/channel/provider.js';
import type { Demand, DemandInput, Endpoint, InvalidRequest } from '../../../contracts/endpoint.js';
import { type ImageEditRequest, type ImageRequest, partialPictureTokens } from '../../../contracts/image-request.js';
import { NotConvertible } from '../../../contracts/protocol.js';
import type { JsonObject } from '../../../json/json.js';
import { imageRuleOf } from '../../../metering/image-rules.js';
import { imageSize, longHeaderLength } from '../../../metering/image-size.js';
import { pictureTokensOf, sourceTokensBeside } from '../../../metering/picture-tokens.js';
import { PromptTally } from '../../../metering/prompt-tally.js';
import type { FormFile } from '../../../upstream/request-content.js';
import { isImageRequest, pictureOf, readImageEdit, readImageRequest } from '../image-order.js';
import { imagesCaller } from '../images-dialect.js';
import { inputTexts } from '../input.js';

/* Pictures made of a text, or changed by one: they cost by the picture, or by the tokens that their model reports. */

type Order = ImageRequest | ImageEditRequest;
type Reader = (body: JsonObject, files: readonly FormFile[] | null) => ReturnType<typeof readImageRequest>;

/** Of a body that has been looked at. Throws NotConvertible. */
function orderIn(read: Reader, body: JsonObject): Order {
  const found = read(body, null);
  if (isImageRequest(found)) return found;
  throw new NotConvertible('caller', found.message);
}

function sourcesOf(order: Order): readonly string[] {
  const { images = [], mask }: Partial<ImageEditRequest> = order;
  return mask === undefined ? images : [...images, mask];
}

/** Pictures to go by: only where a file says how large its picture is, it is looked into. */
function tallySources(tally: PromptTally, order: Order, { upload, model, names }: DemandInput): void {
  const sources = sourcesOf(order);
  for (const image_url of sources) tally.part({ type: 'image_url', image_url });
  for (const { bytes } of upload?.files ?? []) {
    const size = imageSize(bytes.subarray(0, longHeaderLength));
    const counts = [...names].map((name) => imageRuleOf(name)(size, 'auto'));
    tally.count({
      expected: imageRuleOf(model)(size, 'auto').expected,
      conservative: Math.max(...counts.map(({ conservative }) => conservative)),
      max: Math.max(...counts.map(({ max }) => max)),
      characters: bytes.length,
      kind: 'imageInput',
    });
  }
  const beside = sourceTokensBeside(names, order.input_fidelity);
  for (let left = sources.length + (upload?.files.length ?? 0); left > 0 && beside.max > 0; left--)
    tally.count({ ...beside, conservative: beside.max, characters: 0, kind: 'imageInput' });
}

function demandOf(order: Order, asked: DemandInput): Demand {
  const { model, names, bytes } = asked;
  const tally = new PromptTally(model, names);
  tally.text(order.prompt);
  tally.text(order.negative_prompt);
  tallySources(tally, order, asked);
  const { n: images, partial_images: partial } = order;
  const prompt = tally.total(bytes);
  const { expected, max } = pictureTokensOf(order, names);
  return {
    prompt: { ...prompt, max: { ...prompt.max, images } },
    answers: images,
    asked: max + partial * partialPictureTokens,
    readApart: true,
    indivisible: true,
    pictureTokens: expected,
  };
}

interface Own {
  readonly path: string;
  readonly mode: PaidMode;
  readonly body: Endpoint['body'];
}

/** What OpenAI's clients ask for that name none. */
const usualModel = 'dall-e-2';

const picturing = (read: Reader, own: Own): Endpoint => ({
  ...own,
  dialect: imagesCaller,
  usualModel,
  answersAudio: false,
  thinking: null,
  toNeutral: (body) =>
    ({ mode: own.mode, body: orderIn(read, body) }) as ReturnType<NonNullable<Endpoint['toNeutral']>>,
  invalid(body, upload): InvalidRequest | null {
    const found = read(body, upload?.files ?? []);
    return isImageRequest(found) ? null : { code: 'invalid_image_request', ...found };
  },
  promptTexts: ({ prompt, negative_prompt }) => [...inputTexts(prompt), ...inputTexts(negative_prompt)],
  asksForAudio: () => false,
  asksForStream: ({ stream }) => stream === true || stream === 'true',
  asksForUsage: () => false,
  picture: (body, names) => pictureOf(orderIn(read, body), body, names),
  demand: (asked) => demandOf(orderIn(read, asked.body), asked),
});

export const imageGenerations: Endpoint = picturing((body) => readImageRequest(body, usualModel), {
  path: '/v1/images/generations',
  mode: 'image-generation',
  body: 'json',
});

export const imageEdits: Endpoint = picturing((body, files) => readImageEdit(body, files, usualModel), {
  path: '/v1/images/edits',
  mode: 'image-edit',
  body: 'jsonOrForm',
});
