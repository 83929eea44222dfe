import { count, seconds } from '../arguments.js';
import { booksLine } from '../books.js';
import { costRatio, costsOf } from '../costs.js';
import { type Outcome, part } from '../part.js';
import { namesOfRatios, type Ratios, recordedRatios, tooLow } from '../recorded.js';
import { type Costed, type Rig, tallygate, withRig } from '../rig.js';
import { comparedIn, oneRound, type Round, share } from '../rounds.js';
import { decimal, table } from '../table.js';

/*
 * The short form for continuous integration: the two ratios to the bare proxy that matter most. A machine that does
 * other things as well gets three tries, and fails only where each of them is far below what was recorded.
 */

const model = 'gpt-4o-mini';
const routes = ['proxy', tallygate];
const connections = 32;
const warmUpSeconds = 1;

interface Try {
  readonly ratios: Ratios;
  /** Our gateway's CPU per JSON call against the proxy's; null where the system does not say. */
  readonly jsonCpuToProxy: number | null;
}

const inTurns = (rig: Rig, number: number, stream: boolean, seconds: number): Promise<Round<Costed>> =>
  oneRound(routes, number, (route) => rig.measure(route, { model, stream, pace: { connections }, seconds }));

async function tryOnce(rig: Rig, rounds: number, seconds: number): Promise<Try> {
  const [json, streamed]: [Round<Costed>[], Round<Costed>[]] = [[], []];
  for (let number = 1; number <= rounds; number++) {
    json.push(await inTurns(rig, number, false, seconds));
    streamed.push(await inTurns(rig, number, true, seconds));
  }
  const ratio = (of: readonly Round<Costed>[]): number =>
    comparedIn(of, [tallygate, 'proxy'], ({ callsPerSecond }) => callsPerSecond, share);
  return {
    ratios: { jsonCallsToProxy: ratio(json), streamedAnswersToProxy: ratio(streamed) },
    jsonCpuToProxy: costRatio(costsOf(json, routes)),
  };
}

const linesOf = (tries: readonly Try[], missing: string | null): string[] => [
  ...table(
    ['ratio to the bare proxy', 'recorded', ...tries.map((_, number) => `try ${number + 1}`)],
    namesOfRatios.map((name) => [
      name,
      decimal(recordedRatios[name]),
      ...tries.map(({ ratios }) => decimal(ratios[name], 3)),
    ]),
  ),
  missing ??
    `CPU per JSON call, of the proxy's: ${tries.map(({ jsonCpuToProxy }) => jsonCpuToProxy ?? '-').join(', ')}`,
];

export const ci = part({
  name: 'ci',
  says: 'the ratios to the bare proxy in at most two minutes; fails where they are less than half of those recorded',
  options: {
    seconds: seconds(1.5, 'length of each measurement'),
    rounds: count(3, 'how often everything is measured in a try', 100),
    tries: count(3, 'so many tries, unless one before is good enough', 10),
  },
  run({ seconds, rounds, tries: maxTries }, surroundings) {
    const { progress } = surroundings;
    return withRig(
      { models: { [model]: { chunks: 50, chunkSize: 5 } } },
      surroundings,
      async (rig): Promise<Outcome> => {
        progress('warming up');
        await inTurns(rig, 0, false, warmUpSeconds);
        await inTurns(rig, 0, true, warmUpSeconds);
        const tries: Try[] = [];
        let low: string[] = [];
        do {
          progress(`try ${tries.length + 1} of at most ${maxTries}`);
          const found = await tryOnce(rig, rounds, seconds);
          tries.push(found);
          low = tooLow(found.ratios);
        } while (low.length > 0 && tries.length < maxTries);
        const { books, differences } = await rig.checkBooks();
        return {
          figures: { recorded: recordedRatios, tries, books },
          lines: [...linesOf(tries, rig.meter.missing), booksLine(books, differences)],
          differences: [...low, ...differences],
        };
      },
    );
  },
});
