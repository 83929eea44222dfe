/* What is longer than a function, or a list of parameters, should be. Nothing is added here. */

export const longFunctions: readonly string[] = [
  'application/application.ts openApplication',
  'application/memory/directory.ts openDirectory',
  'application/memory/live-traffic.ts liveTraffic',
  'application/usage/usage-queries.ts usageQueries',
  'application/options/settings.ts settingsFrom',
  'bootstrap/gateway.ts start',
];

export const longParameterLists: readonly string[] = [];
