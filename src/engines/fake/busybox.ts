const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** busybox `sleep`: the sum of its arguments in milliseconds. */
export function sleepMs(args: readonly string[]): number {
  return args.reduce((sum, arg) => {
    if (/^inf(inity)?$/i.test(arg)) return Number.POSITIVE_INFINITY;
    const [, number, unit = 's'] = /^([\d.]+)([smhd]?)$/.exec(arg) ?? [];
    return number === undefined ? sum : sum + Number(number) * (SECONDS[unit || 's'] ?? 1) * 1000;
  }, 0);
}

/** `test` over strings and integers. No file exists. */
export function holds(args: readonly string[]): boolean {
  if (args[0] === '!') return !holds(args.slice(1));
  const [a = '', operator, b = ''] = args;
  if (args.length === 1) return a !== '';
  if (args.length === 2) return a === '-n' ? operator !== '' : a === '-z' ? operator === '' : false;
  const [x, y] = [Number(a), Number(b)];
  switch (operator ?? '') {
    case '=':
    case '==':
      return a === b;
    case '!=':
      return a !== b;
    case '-eq':
      return x === y;
    case '-ne':
      return x !== y;
    case '-lt':
      return x < y;
    case '-le':
      return x <= y;
    case '-gt':
      return x > y;
    case '-ge':
      return x >= y;
    default:
      return false;
  }
}
