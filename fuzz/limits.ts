/** Limits that would turn most of the requests away before they reach anything worth attacking. */
export const fuzzLimits: Readonly<Record<string, string>> = {
  GLOBAL_API_RATE_LIMIT_ENABLE: 'false',
  GLOBAL_WEB_RATE_LIMIT_ENABLE: 'false',
  CRITICAL_RATE_LIMIT_ENABLE: 'false',
  GRAPHQL_COST_PER_MINUTE: '100000000',
  LOG_LEVEL: 'error',
  // Upstreams that fall silent are given up soon, as are answers that never end, and what requests say of their origin is read.
  STREAMING_TIMEOUT: '1',
  RELAY_TIMEOUT: '5',
  TRUSTED_PROXIES: '127.0.0.1',
};
