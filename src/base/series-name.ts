/** A name is repeated for each bucket: a few that are longer would make the page of metrics too large to read. */
const LONGEST = 512;

/** What stands for all names that have no series of their own. */
export const OTHER = 'other';

/** What a series is called for a name that strangers choose: names that are written as the same bytes are one. */
export const seriesName = (name: string): string => (name.length > LONGEST ? OTHER : name.toWellFormed());
