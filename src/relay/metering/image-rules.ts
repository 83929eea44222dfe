import type { PatchBudgetName, PictureTokens } from '../../domain/models/fact-kinds.js';
import { factsOf, pictureTokensKnown } from '../../domain/models/model-facts.js';
import type { ImageSize } from './image-size.js';

/*
 * How families of models count a picture, as their makers say. Where what they say differs from what has been seen, or
 * has changed, the larger is the bound: a bound that is too tight turns an honest bill into a loss.
 */

/** In the words of whichever dialect was spoken; null: none, which is as good as `auto`. */
export type ImageDetail = 'low' | 'medium' | 'high' | 'auto' | 'original' | 'ultra_high';

interface ImageTokens {
  /** As near as can be known. */
  readonly expected: number;
  /** What it is unlikely to exceed. */
  readonly conservative: number;
  /** What it cannot exceed. */
  readonly max: number;
}

/** `size`: null where nobody can see the picture. */
type ImageRule = (size: ImageSize | null, detail: ImageDetail) => ImageTokens;

const exactly = (tokens: number): ImageTokens => ({ expected: tokens, conservative: tokens, max: tokens });

const longSide = 2048;
const shortSide = 768;
const tileSize = 512;
/** Two along the short side, four along the long one: more do not fit into 2048 × 768. */
const maxTiles = 8;

/** Shrunk to 2048 on the long side, then to 768 on the short one; never enlarged. */
function tilesOf({ width, height }: ImageSize): number {
  const fit = Math.min(1, longSide / Math.max(width, height));
  const shrink = fit * Math.min(1, shortSide / (Math.min(width, height) * fit));
  const tiles = (side: number): number => Math.ceil(Math.round(side * shrink) / tileSize);
  return tiles(width) * tiles(height);
}

/** So many tokens for each tile of 512 beside the base, which is all that low detail takes. */
const tiles =
  (base: number, tile: number): ImageRule =>
  (size, detail) => {
    if (detail === 'low') return exactly(base);
    if (size !== null) return exactly(tilesOf(size) * tile + base);
    // Whoever does not see the picture assumes a small one, and reserves enough for a large one.
    const max = maxTiles * tile + base;
    return { expected: 3 * base, conservative: max, max };
  };

/** What a picture is shrunk to before it is cut into patches. */
interface PatchBudget {
  /** Pixels. */
  readonly longSide: number;
  readonly patches: number;
  /** Patches that the provider has published, where these are more. */
  readonly maxPatches?: number;
}

/** No picture that a provider takes has more patches of 32, as far as anybody has seen. */
const unboundedPatches = 65_536;
/** Above it most routes refuse a picture. */
const usualMaxPatches = 30_000;

const unseen: ImageSize = { width: 1024, height: 1024 };

const patchesIn = ({ width, height }: ImageSize, side: number): number =>
  Math.ceil(width / side) * Math.ceil(height / side);

/** Shrunk to the long side, then until whole patches along both sides stay within the budget. */
function patchesWithin({ width, height }: ImageSize, side: number, budget: PatchBudget): number {
  const fit = Math.min(1, budget.longSide / Math.max(width, height));
  const fitted = { width: Math.max(1, Math.round(width * fit)), height: Math.max(1, Math.round(height * fit)) };
  if (patchesIn(fitted, side) <= budget.patches) return patchesIn(fitted, side);
  const shrink = Math.sqrt((side ** 2 * budget.patches) / (fitted.width * fitted.height));
  const [across, down] = [(fitted.width * shrink) / side, (fitted.height * shrink) / side];
  const aligned = shrink * Math.min(Math.floor(across) / across, Math.floor(down) / down);
  // A thin strip has not one whole patch across.
  if (aligned === 0) return budget.patches;
  const whole = (length: number): number => Math.max(1, Math.ceil(Math.floor(length * aligned) / side));
  return Math.min(whole(fitted.width) * whole(fitted.height), budget.patches);
}

const patches =
  (side: number, perPatch: number, budgetOf: (detail: ImageDetail) => PatchBudget): ImageRule =>
  (size, detail) => {
    const budget = budgetOf(detail);
    const tokens = (count: number): number => Math.ceil(count * perPatch);
    const expected = tokens(patchesWithin(size ?? unseen, side, budget));
    const maxPatches = Math.max(budget.patches, budget.maxPatches ?? 0);
    if (size === null)
      return { expected, conservative: tokens(Math.min(maxPatches, usualMaxPatches)), max: tokens(maxPatches) };
    const counted = Math.max(expected, tokens(Math.min(patchesIn(size, side), maxPatches)));
    return { expected, conservative: counted, max: counted };
  };

/** The guide says 1,536, libraries made since count to what fits into 2048 × 2048. */
const byTheGuide: PatchBudget = { longSide, patches: 1_536, maxPatches: 4_096 };
const asHigh: PatchBudget = { longSide, patches: 2_500 };
const asOriginal: PatchBudget = { longSide: 6_000, patches: 10_000 };
const asItIs: PatchBudget = { longSide: Number.POSITIVE_INFINITY, patches: unboundedPatches };
const asThumbnail: PatchBudget = { longSide: 512, patches: 256 };

const isOriginal = (detail: ImageDetail): boolean => detail === 'original' || detail === 'ultra_high';

/** As it is unless less is asked for. */
const sharp =
  (original: PatchBudget) =>
  (detail: ImageDetail): PatchBudget => {
    if (detail === 'low') return { ...asThumbnail, maxPatches: 4_096 };
    return detail === 'high' ? { ...asHigh, longSide: Number.POSITIVE_INFINITY } : original;
  };

const budgets: Readonly<Record<PatchBudgetName, (detail: ImageDetail) => PatchBudget>> = {
  // Detail has no effect.
  guide: () => byTheGuide,
  // Low detail is not known to make less of it.
  'sharp-if-asked': (detail) => (isOriginal(detail) ? asOriginal : { ...asHigh, maxPatches: 4_096 }),
  sharp: sharp(asOriginal),
  unbounded: sharp(asItIs),
};

/** Tiles that are cut at two thirds of the short side, between 256 and 768 pixels. */
function cropsOf({ width, height }: ImageSize): number {
  if (Math.max(width, height) <= 384) return 1;
  const side = Math.min(768, Math.max(256, Math.floor(Math.min(width, height) / 1.5)));
  return patchesIn({ width, height }, side);
}

const crops: ImageRule = (size) => {
  const expected = 258 * (size === null ? 4 : cropsOf(size));
  return { expected, conservative: Math.max(expected, 4_096), max: Math.max(expected, 16_384) };
};

const resolutions: Readonly<Record<ImageDetail, number>> = {
  low: 280,
  medium: 560,
  high: 1_120,
  auto: 1_120,
  original: 1_120,
  ultra_high: 2_240,
};

/** So many tokens at most, whatever the size. */
const byResolution: ImageRule = (_size, detail) => ({
  expected: resolutions[detail],
  conservative: 2_240,
  max: 4_096,
});

/** Families that say how they count, and have others that count otherwise: all of these take up to 16,384 tokens. */
const about =
  (count: (size: ImageSize) => number): ImageRule =>
  (size) => ({ expected: Math.min(count(size ?? unseen), 16_384), conservative: 4_096, max: 16_384 });

function ruleFor(counted: PictureTokens): ImageRule {
  switch (counted.by) {
    case 'tiles':
      return tiles(counted.base, counted.tile);
    case 'patches':
      return patches(32, counted.perPatch, budgets[counted.budget]);
    case 'claude': {
      const budget = { longSide: counted.longSide, patches: counted.patches, max: counted.max };
      return patches(28, 1, () => budget);
    }
    case 'crops':
      return crops;
    case 'resolution':
      return byResolution;
    case 'squares':
      return about((size) => counted.base + counted.each * Math.min(patchesIn(size, counted.side), counted.max));
  }
}

const rules: ReadonlyMap<PictureTokens, ImageRule> = new Map(pictureTokensKnown.map((one) => [one, ruleFor(one)]));

/** The largest there is: whatever a model of no known family turns out to be. */
const unknown: ImageRule = (size, detail) => {
  const { expected } = tiles(85, 170)(size, detail);
  let conservative = 4_096;
  let max = 16_384;
  for (const [known, rule] of rules) {
    // What an unknown family makes of a detail is not known either.
    const counted = rule(size, 'original');
    max = Math.max(max, counted.max);
    // A cheap model whose tokens are made as dear as another's is not to be expected of a name that nobody knows.
    const isInflated = known.by === 'tiles' && known.inflated === true;
    if (!isInflated && size !== null) conservative = Math.max(conservative, counted.conservative);
  }
  // Photographs have twelve million pixels, and are shrunk by most.
  return { expected, conservative: size === null ? 16_384 : conservative, max };
};

export function imageRuleOf(model: string): ImageRule {
  const { pictures } = factsOf(model);
  return (pictures === null ? undefined : rules.get(pictures)) ?? unknown;
}
