/* What is known of searches that providers run by themselves. */

/** Of a call whose caller names no bound, and of each answer of a model that takes none. */
export const maxSearches = 20;

/** Models of OpenAI's that search once for every answer, and tell nothing of it in their usage. */
export const searchesItself = (model: string): boolean => /^gpt-.+-search-(preview|api)/.test(model);

/** Google sells a search by the prompt for models up to this generation, by the query for later ones. */
export const searchesPerPrompt = (model: string): boolean => /^gemini-[12]\b/.test(model);
