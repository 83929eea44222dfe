import { startTestGateway, type TestGateway } from '../support/gateway/test-gateway.js';
import { type EpayServer, merchant, startEpayServer } from './epay-server.js';

/** A gateway that sells quota, and the cashier it sends people to. */
export interface PaymentWorld {
  readonly gateway: TestGateway;
  readonly epayServer: EpayServer;
  stop(): Promise<void>;
}

export const epayOptions = (epayServer: Pick<EpayServer, 'url'>): Readonly<Record<string, string>> => ({
  ServerAddress: 'https://gate.example',
  PayAddress: epayServer.url,
  EpayId: merchant.id,
  EpayKey: merchant.key,
});

export async function startPayments(): Promise<PaymentWorld> {
  const epayServer = await startEpayServer();
  const gateway = await startTestGateway({ GRAPHQL_COST_PER_MINUTE: '100000000' });
  for (const [key, value] of Object.entries(epayOptions(epayServer))) await gateway.setOption(key, value);
  return {
    gateway,
    epayServer,
    async stop() {
      await gateway.stop();
      await epayServer.stop();
    },
  };
}
