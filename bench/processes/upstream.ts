import type { SimulatedAnswer } from '../../src/demo/simulated-behaviour.js';
import { type SimulatedProvider, startSimulatedProvider } from '../../src/demo/simulated-provider.js';
import type { Served } from '../books.js';
import { answerParent } from './child.js';

/*
 * The provider every route ends at. It has two addresses: what comes to the first is Tallygate's and is counted apart
 * from what others sent to the second. `start` comes first and once.
 */

export type UpstreamQuestion =
  | {
      readonly ask: 'start';
      /** What it does for each model. */
      readonly models: Readonly<Record<string, SimulatedAnswer>>;
      /** Where the others find it; 0: any free port. */
      readonly port: number;
    }
  | { readonly ask: 'served' };

export type UpstreamAnswer =
  | { readonly counted: string; readonly others: string; readonly pid: number }
  | { readonly served: Served };

const providers: SimulatedProvider[] = [];

async function start(models: Readonly<Record<string, SimulatedAnswer>>, port: number): Promise<string> {
  // What every model does that has no script.
  const [[, usual] = [], ...scripted] = Object.entries(models);
  const provider = await startSimulatedProvider({ behaviour: usual, remember: 1, port });
  for (const [model, behaviour] of scripted) provider.script(model, behaviour);
  providers.push(provider);
  return provider.url;
}

answerParent<UpstreamQuestion, UpstreamAnswer>(async (question) => {
  switch (question.ask) {
    case 'start': {
      const counted = await start(question.models, 0);
      return { counted, others: await start(question.models, question.port), pid: process.pid };
    }
    case 'served': {
      const tally = providers[0]?.tally();
      if (tally === undefined) throw new Error('the simulated provider has not been started');
      const { calls, completed, promptTokens, completionTokens, byModel, alike } = tally;
      return { served: { calls, completed, promptTokens, completionTokens, byModel, alike } };
    }
  }
});
