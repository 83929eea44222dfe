import { rerankEndpoint } from '../openai/endpoints/rerank.js';
import { callsOf, type Route, type RoutesOptions } from '../route.js';
import { cohereCaller } from './dialect.js';

/* What clients of Cohere ask for that others ask for elsewhere, or in the same words at another address. */

export const cohereRoutes = ({ relay }: RoutesOptions): Route[] => [
  callsOf(rerankEndpoint('/v2/rerank', cohereCaller), relay),
];
