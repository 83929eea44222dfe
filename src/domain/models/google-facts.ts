import { type FactRow, family, limits, wholeName } from './fact-row.js';

/* Google's models. The first row that states a fact decides it: longer names stand before their families. */

export const googleFacts: readonly FactRow[] = [
  // From before there was thinking, or made for something else: they refuse its parameters.
  wholeName(/gemini-(1|2\.0)|gemini-2.*-image|-tts|gemma|embedding|imagen/, { takesThinking: false }),
  wholeName(/gemini-([4-9]|\d\d)/, { thinksByLevel: true, knowsXhighLevel: true }),
  wholeName(/gemini-3/, { thinksByLevel: true }),
  wholeName(/gemini-2\.5-pro/, { thinkingRange: { min: 128, max: 32_768, refusable: false } }),
  wholeName(/gemini-2\.5-flash-lite/, { thinkingRange: { min: 512, max: 24_576, refusable: true } }),
  wholeName(/-pro/, { minThinkingLevel: 'low' }),
  wholeName(/^gemma/, { takesInstructions: false }),
  wholeName(/^imagen/, { drawsOnly: true }),
  wholeName(/^gemini-.*-image/, { drawsToo: true }),
  wholeName(/^gemini-[12]\b/, { searchesByPrompt: true }),

  family(/^gemini-(1\.5|2\.0-flash(-lite|-001|-exp|$))/, limits(8_192, 2_097_152)),
  family(/^gemini-/, { ...limits(65_536, 2_097_152), soundTokensPerSecond: 32 }),
  family(/^gemini-1\.5-pro/, { inputLimit: 2_097_152 }),
  family(/^gemini-.*-tts/, { inputLimit: 8_192 }),
  family(/^gemini-.*-image/, { inputLimit: 65_536 }),
  family(/^gemini-embedding/, { inputLimit: 2_048 }),
  family(/^gemini-/, { inputLimit: 1_048_576 }),
  family(/^imagen-/, limits(258, 4_096)),
  family(/^gemma-/, limits(8_192, 131_072)),

  family(/^gemini-(1|2)\./i, { pictures: { by: 'crops' } }),
  family(/^gemini-/i, { pictures: { by: 'resolution' } }),
];
