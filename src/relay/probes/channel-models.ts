import type { UpstreamModel, UpstreamModels } from '../../application/ports/upstream-ports.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { RelayPorts } from '../contracts/ports.js';
import { openAiModelList } from '../protocols/models.js';
import { NotReported, NotSupported, NotUnderstood } from '../protocols/provider-queries.js';
import { type AskProviderPorts, askProvider } from './ask-provider.js';
import { isUsableName } from './usable-model-name.js';

/* "Which models does this upstream have?", asked with the key that its calls would be made with. */

type ModelsPorts = AskProviderPorts & Pick<RelayPorts, 'providerOf'>;

/** Services that broker everybody's models list hundreds, with prices and descriptions. */
const maxList = 2 * 1024 * 1024;
const maxModels = 5000;

export const upstreamModels = ({ providerOf, ...ports }: ModelsPorts): UpstreamModels => ({
  async of(connection) {
    const provider = providerOf(connection.type);
    if (provider === null || !provider.listsModels) throw new Failure('models-not-listed');
    try {
      const reported = await askProvider(ports, provider, connection, {
        ask: provider.models ?? openAiModelList,
        maxBytes: maxList,
      });
      const usable = isUsableName(connection.key.trim());
      const models = new Map<string, UpstreamModel>();
      for (const model of reported) if (!models.has(model.name) && usable(model.name)) models.set(model.name, model);
      if (models.size > maxModels) throw new NotUnderstood(`the list has more than ${maxModels} models`);
      return [...models.values()];
    } catch (error) {
      if (!(error instanceof NotReported)) throw error;
      if (error instanceof NotSupported) throw new Failure('models-not-askable', { reason: error.message });
      const unreadable = error instanceof NotUnderstood;
      throw new Failure(unreadable ? 'models-unreadable' : 'models-not-told', { reason: error.message });
    }
  },
});
