/** Searches that a provider may run by itself: of a call whose caller names no bound, and of each answer of a model that takes none. */
export const maxSearches = 20;
