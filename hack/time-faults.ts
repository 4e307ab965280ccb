/** What asks the machine for the time or sets a timer by itself. A method of an object, like a socket's setTimeout, is another thing. */
const doors: readonly RegExp[] = [
  /(?<![.\w])(?:setTimeout|setInterval)\b/g,
  /\bDate\.now\b/g,
  /(?<![.\w])Date\(\)/g,
  /(?<![.\w])performance\.(?:now|timeOrigin)\b/g,
  /\bprocess\.hrtime\b/g,
  /\bAbortSignal\.timeout\b/g,
  /'(?:node:)?timers(?:\/promises)?'/g,
];

/** Of RxJS: schedulers that are not our clock, and operators that count with a scheduler's date, which somebody may set. */
const datedOperators: ReadonlySet<string> = new Set([
  'animationFrameScheduler',
  'asapScheduler',
  'asyncScheduler',
  'queueScheduler',
  'VirtualTimeScheduler',
  'debounceTime',
  'timeInterval',
  'timestamp',
]);
/** Operators that take a scheduler, and another one by themselves where they are given none. */
const scheduled: ReadonlySet<string> = new Set(
  'timer interval delay timeout timeoutWith auditTime sampleTime throttleTime bufferTime windowTime'.split(' '),
);

/** Where a source of ours goes past the clock: nothing outside src/base asks for the time of day, sets a timer, or lets RxJS do so. */
export function timeFaults(source: string): readonly string[] {
  const code = withoutComments(source);
  const faults = doors.flatMap((door) => Array.from(code.matchAll(door), ([found]) => `must not use ${found}: take a Clock`));
  for (const [, names = ''] of code.matchAll(/^import \{([^}]*)\} from 'rxjs'/gm)) {
    for (const name of names.split(',').map((each) => each.trim().split(' ').at(0) ?? '')) {
      if (datedOperators.has(name)) faults.push(`must not use ${name} of rxjs: it does not keep to the clock's monotonic time`);
      if (scheduled.has(name)) faults.push(...unscheduled(code, name));
    }
  }
  return faults;
}

/** The operator's calls whose last argument is no clock. */
function unscheduled(code: string, name: string): readonly string[] {
  return Array.from(code.matchAll(new RegExp(`(?<![.\\w])${name}\\(`, 'g')), ({ index }) => callAt(code, index)).flatMap((call) =>
    /[cC]lock,?\s*\}?\)$/.test(call) ? [] : [`must give ${call.replaceAll(/\s+/g, ' ')} the clock as its scheduler`],
  );
}

/** From the name to the parenthesis that ends its arguments. */
function callAt(code: string, start: number): string {
  let depth = 0;
  for (let at = start; at < code.length; at++) {
    if (code[at] === '(') depth++;
    if (code[at] === ')' && --depth === 0) return code.slice(start, at + 1);
  }
  return code.slice(start);
}

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/^\s*\/\/.*$|(?<=[;{},)\s])\/\/ .*$/gm, '');
}
