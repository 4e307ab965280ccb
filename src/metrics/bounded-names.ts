import { OTHER, seriesName } from '../base/series-name.ts';

/** Far more than nodes have of what names itself: resources, drivers, providers. */
const MOST_NAMES = 500;
/** Of these, those that may be made up: they leave room for those that are not. */
const MOST_UNPROVEN = 100;

/**
 * What a series is called for a name that strangers choose: the first ones by themselves, and those that come after them together, as "other"; so are
 * long ones. `isProven`: something of this name is there.
 */
export function boundedNames(): (name: string, isProven?: boolean) => string {
  const names = new Set<string>();
  return (each, isProven = true) => {
    const name = seriesName(each);
    if (names.size < (isProven ? MOST_NAMES : MOST_UNPROVEN)) names.add(name);
    return names.has(name) ? name : OTHER;
  };
}
