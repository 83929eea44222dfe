/** What stands before the name of a parameter: keyboards make other dashes of two hyphens, and Midjourney takes them. */
export const dashes = '--|[-–—]?[–—]|[–—]-';
