import recorded from './recorded.json' with { type: 'json' };

/*
 * What the short form of the benchmark is held against: ratios to the bare proxy, the lowest of several runs when
 * somebody last wrote them down. Machines differ and are busy, so only half of one is too little.
 */

export type Ratios = Readonly<Record<keyof typeof recorded, number>>;

export const recordedRatios: Ratios = recorded;

export const namesOfRatios = Object.keys(recorded) as (keyof Ratios)[];

/** Those that are less than half of what was recorded, each in a sentence. */
export const tooLow = (found: Ratios, against: Ratios = recordedRatios): string[] =>
  namesOfRatios
    .filter((name) => !(found[name] >= against[name] / 2))
    .map((name) => `${name} is ${found[name]}, less than half of the ${against[name]} recorded`);
