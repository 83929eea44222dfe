/* What a channel lists beside what its upstream has. */

export interface ModelDiff {
  /** The upstream has it, the channel does not list it. */
  readonly added: readonly string[];
  /** The channel lists it, the upstream does not have it, under whatever name it would be asked for. */
  readonly gone: readonly string[];
  /** Both have it. */
  readonly kept: readonly string[];
}

/** {requested: upstream}, of a draft that may not be JSON yet. */
function namesIn(mapping: string): ReadonlyMap<string, string> {
  try {
    const value: unknown = JSON.parse(mapping);
    if (typeof value !== 'object' || value === null) return new Map();
    return new Map(Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
  } catch {
    return new Map();
  }
}

/** A mapping may lead on; one that leads in a circle ends where it began to repeat itself. */
function upstreamName(model: string, names: ReadonlyMap<string, string>): string {
  const seen = new Set<string>();
  let name = model;
  for (let next = names.get(name); next !== undefined && !seen.has(name); next = names.get(name)) {
    seen.add(name);
    name = next;
  }
  return name;
}

export function modelDiff(models: readonly string[], upstream: readonly string[], mapping: string): ModelDiff {
  const names = namesIn(mapping);
  const there = new Set(upstream);
  const asked = new Set(models.map((model) => upstreamName(model, names)));
  const isThere = (model: string): boolean => there.has(upstreamName(model, names));
  return {
    added: upstream.filter((model) => !asked.has(model) && !models.includes(model)),
    gone: models.filter((model) => !isThere(model)),
    kept: models.filter(isThere),
  };
}

/** The channel's models once what was ticked is taken over: what is new is put behind, what is gone is taken out. */
export const takenOver = (
  models: readonly string[],
  { added, gone }: ModelDiff,
  ticked: ReadonlySet<string>,
): readonly string[] => [
  ...models.filter((model) => !(gone.includes(model) && ticked.has(model))),
  ...added.filter((model) => ticked.has(model)),
];
