/* What is longer than a function, or a list of parameters, should be. Nothing is added here. */

export const longFunctions: readonly string[] = [
  'application/application.ts openApplication',
  'application/memory/directory.ts openDirectory',
  'application/memory/live-traffic.ts liveTraffic',
  'application/usage/usage-queries.ts usageQueries',
  'application/options/settings.ts settingsFrom',
  'bootstrap/gateway.ts start',
  'relay/pipeline/record-refusals.ts recordRefusals',
  'relay/dialects/router.ts openDialectRouter',
  'relay/upstream/upstream.ts openUpstream',
];

export const longParameterLists: readonly string[] = [
  'relay/contracts/answer-writer.ts forward',
  'relay/dialects/anthropic/stream-writer.ts forward',
  'relay/dialects/anthropic/stream-writer.ts frameOf',
  'relay/probes/ask-provider.ts askProvider',
  'relay/dialects/router.ts serve',
  'relay/dialects/form-body.ts unnamed',
  'relay/dialects/gemini/stream-writer.ts forward',
  'relay/dialects/openai/stream-writer.ts forward',
  'relay/protocols/tool-names.ts forward',
];
