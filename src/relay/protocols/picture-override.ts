import { isObject, type JsonObject } from '../json/json.js';

/*
 * An operator's own parameters in an order for pictures. How many are made, and how large and how good they are, is what
 * is reserved and charged: these stay as they were ordered.
 */

/** In small letters, as some take them in either spelling. */
const priced: ReadonlySet<string> = new Set([
  ...['n', 'batchsize', 'samples', 'samplecount', 'numimages', 'numimagesperprompt', 'candidatecount', 'maximages'],
  ...['sequentialimagegeneration', 'sequentialimagegenerationoptions', 'partialimages'],
  ...[
    'size',
    'imagesize',
    'sampleimagesize',
    'resolution',
    'width',
    'height',
    'quality',
    'complexity',
    'inputfidelity',
  ],
]);

const isPriced = (name: string): boolean => priced.has(name.replaceAll('_', '').toLowerCase());

/** `override` over `order`, in objects within them too, but for what the pictures cost by. */
export function overriddenPictures(order: JsonObject, override: JsonObject): JsonObject {
  const own: JsonObject = {};
  for (const [name, value] of Object.entries(override)) {
    const ordered = order[name];
    if (isPriced(name)) continue;
    if (isObject(value)) own[name] = overriddenPictures(isObject(ordered) ? ordered : {}, value);
    // What was ordered stands in it.
    else if (!isObject(ordered)) own[name] = value;
  }
  return { ...order, ...own };
}
