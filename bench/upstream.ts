import { type SimulatedProvider, startSimulatedProvider } from '../src/demo/simulated-provider.js';
import { answerParent } from './child.js';

/** The provider every route ends at. `start` comes first and once. */
export type UpstreamQuestion =
  | { readonly ask: 'start'; readonly chunks: number; readonly chunkSize: number }
  | { readonly ask: 'calls'; readonly model: string };

export type UpstreamAnswer = { readonly url: string } | { readonly calls: number };

let provider: SimulatedProvider | null = null;

answerParent<UpstreamQuestion, UpstreamAnswer>(async (question) => {
  switch (question.ask) {
    case 'start': {
      const { chunks, chunkSize } = question;
      provider = await startSimulatedProvider({ behaviour: { chunks, chunkSize }, remember: 1 });
      return { url: provider.url };
    }
    case 'calls':
      return { calls: provider?.tally().byModel[question.model] ?? 0 };
  }
});
