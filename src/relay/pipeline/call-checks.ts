import type { Settings } from '../../application/options/settings.js';
import type { ChannelView, Directory } from '../../application/ports/storage-ports.js';
import { isModelName } from '../../domain/call/call-texts.js';
import type { Usage } from '../../domain/call/usage.js';
import type { PaidMode } from '../../domain/channel/provider.js';
import { ChannelId } from '../../domain/kernel/ids.js';
import { maxModelNameBytes } from '../../domain/kernel/names.js';
import { pieceOfMode } from '../../domain/pricing/mode-pieces.js';
import { type DrawingModel, priceOfPictures } from '../../domain/pricing/picture-prices.js';
import { billedName, priceOf } from '../../domain/pricing/price-tables.js';
import type { Price } from '../../domain/pricing/pricing.js';
import { isPieces, isToolCalls, type Quantity, toolOf } from '../../domain/pricing/quantities.js';
import { isSoldBy } from '../../domain/pricing/rates.js';
import { toolPriceOf } from '../../domain/pricing/tool-prices.js';
import type { Caller } from '../admission/authenticate.js';
import { searchWords } from '../admission/sensitive-words.js';
import type { InvalidMember } from '../contracts/caller-dialect.js';
import type { Endpoint } from '../contracts/endpoint.js';
import { RelayError } from '../contracts/errors.js';
import type { Upload } from '../contracts/upload.js';
import { type JsonObject, textIn } from '../json/json.js';
import type { KeptCall } from './kept/kept-call.js';
import { keptUpstream } from './kept/kept-upstream.js';

/* What a call is refused for before it is reserved. Each check throws RelayError. */

/** The model as asked for. */
export function modelIn({ usualModel, picture }: Endpoint, body: JsonObject, inPerson: boolean): string {
  // Others with a usual model refuse it in words of their own.
  if (picture !== undefined && (body.model ?? '') !== '' && textIn(body.model) === null)
    throw new RelayError(400, 'invalid_request', 'invalid request: model must be a text, given once', {
      param: 'model',
    });
  const model = textIn(body.model) ?? usualModel;
  if (model === null)
    throw new RelayError(
      400,
      inPerson ? 'model_required' : 'invalid_request',
      'invalid request: field model is required',
      { param: 'model' },
    );
  if (isModelName(model)) return model;
  throw new RelayError(
    400,
    'invalid_request',
    `invalid request: model must be at most ${maxModelNameBytes} bytes without control characters`,
    { param: 'model' },
  );
}

export function pinnedChannel(directory: Directory, text: string): ChannelView {
  const channel = /^\d{1,15}$/.test(text) && Number(text) > 0 ? directory.channel(ChannelId(Number(text))) : null;
  if (channel === null) throw new RelayError(400, 'invalid_channel_id', 'invalid channel id');
  if (channel.status !== 'enabled') throw new RelayError(403, 'channel_disabled', 'the channel is disabled');
  return channel;
}

export const checkModelLimit = ({ apiKey }: Caller, model: string): void => {
  if (apiKey === null) return;
  const { terms } = apiKey;
  if (!terms.modelLimitsEnabled || terms.modelLimits.includes(model) || terms.modelLimits.includes(billedName(model)))
    return;
  throw new RelayError(403, 'model_not_allowed', `the token may not use the model ${model}`);
};

export const foundWords = (): RelayError => new RelayError(400, 'sensitive_words_detected', 'sensitive words detected');

export function* checkWords(endpoint: Endpoint, body: JsonObject, words: readonly string[]): Generator<void, void> {
  if (words.length === 0) return;
  if (yield* searchWords(endpoint.promptTexts(body), words)) throw foundWords();
}

/** A task has no tokens: by their price it would be free. */
const isPriceOfTask = ({ per, pieces }: Price): boolean => per === 'call' || pieces !== undefined;

/** Of a call of this mode: a model that is sold by the second has no price for a chat. */
export function priceFor(
  { model, group, mode }: { readonly model: string; readonly group: string; readonly mode: PaidMode },
  caller: Caller,
  settings: Settings,
): Price {
  // Models without a price cost so much a token: of a task, which has none, nobody can accept that.
  const acceptsUnpriced = settings.selfUseMode || (mode !== 'task' && caller.user.acceptUnpricedModels);
  const price = priceOf(settings.prices, model, group, acceptsUnpriced, pieceOfMode[mode]);
  if (price !== null && (mode !== 'task' || acceptsUnpriced || isPriceOfTask(price))) return price;
  throw new RelayError(
    400,
    'model_price_error',
    `ratio or price of model ${model} is not set, please contact the administrator`,
  );
}

/** The same of pictures as they are ordered, where the call makes any. Throws RelayError: those have none. */
export function picturesPriced(
  price: Price,
  { endpoint, body }: Pick<ToCheck, 'endpoint' | 'body'>,
  { model, names, settings }: DrawingModel & { readonly settings: Settings },
): Price {
  if (endpoint.picture === undefined) return price;
  const ordered = endpoint.picture(body, names);
  const priced = priceOfPictures(price, settings.prices, { model, names }, ordered);
  if (priced !== null) return priced;
  throw new RelayError(
    400,
    'model_price_error',
    `model ${model} has no price for pictures of size ${ordered.size} and quality ${ordered.quality}, please contact the administrator`,
  );
}

/** Throws RelayError: some of what a task uses, such as seconds at this resolution, has no price of its model. */
export function checkPiecePrices(used: Usage, price: Price, model: string, { selfUseMode }: Settings): void {
  if (selfUseMode || price.per === 'call') return;
  for (const name of Object.keys(used) as Quantity[]) {
    if (!isPieces(name) || (used[name] ?? 0) <= 0 || isSoldBy(price, name)) continue;
    throw new RelayError(
      400,
      'model_price_error',
      `model ${model} has no price for ${name}, please contact the administrator`,
    );
  }
}

/** Throws RelayError: the caller asks for a tool of a provider's own that nobody has set a price for. */
export function checkToolPrices(calls: Usage, model: string, settings: Settings, caller: Caller): void {
  if (settings.selfUseMode || caller.user.acceptUnpricedModels) return;
  for (const name of Object.keys(calls) as Quantity[]) {
    if (!isToolCalls(name) || toolPriceOf(settings.prices, name, model) !== undefined) continue;
    throw new RelayError(
      400,
      'model_price_error',
      `tool ${toolOf(name)} has no price for model ${model}, please contact the administrator`,
    );
  }
}

interface ToCheck {
  readonly endpoint: Endpoint;
  readonly body: JsonObject;
  readonly upload: Upload | null;
  readonly kept: Pick<KeptCall, 'rest'> | null;
  /** Its response is stored here, if it asks for that. */
  readonly storedHere: boolean;
}

/** The member that asks for something to be kept where nothing is; null: there is none. */
const keepsIn = ({ kept, conversation }: Endpoint, body: JsonObject, storedHere: boolean): InvalidMember | null =>
  kept?.keeps(storedHere && conversation !== undefined ? conversation.withoutStore(body) : body) ?? null;

/** Throws RelayError: the body cannot be taken. */
export function checkBody(
  { endpoint, body, upload, kept: named, storedHere }: ToCheck,
  { keepsUpstream }: Settings,
): void {
  const misspelled = endpoint.dialect.misspelled(body);
  if (misspelled !== null) throw invalidRequest('invalid_request', misspelled);
  const invalid = endpoint.invalid(body, upload);
  if (invalid !== null) throw invalidRequest(invalid.code, invalid);
  const rest = named?.rest ?? body;
  const kept =
    keptUpstream(endpoint.kept?.withoutNew?.(rest) ?? rest) ??
    (keepsUpstream ? null : keepsIn(endpoint, body, storedHere));
  if (kept !== null) throw invalidRequest('invalid_request', kept);
}

/** Throws RelayError: it names something that a provider keeps. */
export function checkNamesNothingKept(body: JsonObject): void {
  const kept = keptUpstream(body);
  if (kept !== null) throw invalidRequest('invalid_request', kept);
}

const invalidRequest = (code: string, { message, param }: InvalidMember): RelayError =>
  new RelayError(400, code, message, { type: 'invalid_request_error', param });
