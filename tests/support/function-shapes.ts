/* What is longer than a function, or a list of parameters, should be. Nothing is added here. */

export const longFunctions: readonly string[] = [
];

export const longParameterLists: readonly string[] = [];
