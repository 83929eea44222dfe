import type { DefaultPrices } from '../../../src/application/prices/default-prices.js';

/** Built-in prices of a gateway that has none. */
export const noPrices: DefaultPrices = {
  modelRatio: new Map(),
  modelPrice: new Map(),
  completionRatio: new Map(),
  cacheRatio: new Map(),
  cacheWriteRatio: new Map(),
  imageRatio: new Map(),
  imageOutputRatio: new Map(),
  audioRatio: new Map(),
  audioOutputRatio: new Map(),
  contextTiers: new Map(),
};
