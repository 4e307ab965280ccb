import { OTHER, seriesName } from '../base/series-name.ts';

/** Far more than nodes have of what names itself: resources, drivers, providers. */
const MOST_NAMES = 500;

/** What a series is called for a name that strangers choose: the first ones by themselves, and those that come after them together, as "other"; so are long ones. */
export function boundedNames(): (name: string) => string {
  const names = new Set<string>();
  return (each) => {
    const name = seriesName(each);
    if (names.size < MOST_NAMES) names.add(name);
    return names.has(name) ? name : OTHER;
  };
}
