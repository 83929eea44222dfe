/* What vendors publish of their tiers, as of 28 November 2026, by what it costs more or less than the usual tier. */

const flex = 0.5;

/** Tiers that hold for several models: factors, and the models or beginnings of names. */
const published: readonly (readonly [factors: Readonly<Record<string, number>>, models: string])[] = [
  [{ priority: 1.75 }, 'gpt-4o-2024-05-13 gpt-4.1 gpt-4.1-2025-* gpt-4.1-mini gpt-4.1-mini-2025-*'],
  [{ priority: 1.7 }, 'gpt-4o gpt-4o-2024-*'],
  [{ priority: 1.66666666666667 }, 'gpt-4o-mini gpt-4o-mini-2024-*'],
  [{ priority: 2 }, 'gpt-4.1-nano gpt-4.1-nano-2025-* gpt-5.3-codex*'],
  [{ flex, priority: 1.75 }, 'o3 o3-2025-*'],
  [{ flex, priority: 1.81818181818182 }, 'o4-mini o4-mini-2025-*'],
  [{ flex, priority: 1.8 }, 'gpt-5-mini*'],
  [{ flex, priority: 2 }, 'gpt-5 gpt-5-2025-* gpt-5.1 gpt-5.1-2025-* gpt-5.2 gpt-5.2-2025-* gpt-5.4 gpt-5.4-2026-*'],
  [{ flex, priority: 2 }, 'gpt-5.4-mini* gpt-5.6* gpt-6-sol* gpt-6-luna* gpt-6.1-terra*'],
  [{ flex, priority: 2.5 }, 'gpt-5.5 gpt-5.5-2026-*'],
  [{ flex, priority: 2, ultrafast: 6 }, 'gpt-6-astra* gpt-6.1-sol*'],
  [{ flex }, 'gpt-5-nano* gpt-5.4-nano* gpt-5.4-pro* gpt-5.5-pro*'],
  [{ us: 1.1 }, 'claude-opus-4-6* claude-opus-4-7* claude-sonnet-4-6* claude-sonnet-5* claude-haiku-5-5*'],
  [{ us: 1.1 }, 'claude-fable-5 claude-fable-5-1 claude-mythos-5 claude-mythos-5-1 claude-mythos-preview'],
  [{ fast: 2, us: 1.1 }, 'claude-opus-4-8* claude-opus-5*'],
  // Here what comes from a cache is not cheaper in flex: one factor cannot say that.
  [{ priority: 1.8 }, 'gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite gemini-3-flash-preview'],
  [{ priority: 1.8 }, 'gemini-3.1-pro-preview* gemini-3.5-flash gemini-3.5-flash-lite gemini-2.5-flash-image'],
  [{ priority: 1.8 }, 'gemini-pro-latest gemini-flash-lite-latest gemini-nano-banana-2.1'],
  [{ flex, priority: 1.8 }, 'gemini-3.1-flash-lite gemini-3.1-flash-lite-preview gemini-3.6-flash gemini-3.7-flash'],
  [
    { flex, priority: 1.8 },
    'gemini-3.8-flash gemini-flash-latest gemini-4-argon gemini-4-hydrogen gemini-3-pro-image*',
  ],
];

/** As the option ServiceTiers holds them. */
export const builtInServiceTiers = JSON.stringify(
  Object.fromEntries(published.flatMap(([factors, models]) => models.split(' ').map((model) => [model, factors]))),
);
