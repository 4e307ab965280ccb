const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\\': '\\', a: '\u0007', b: '\b', f: '\f', v: '\v' };

const unescaped = (text: string): string => text.replace(/\\([ntr\\abfv])/g, (_, char: string) => escapes[char] ?? char);

/** What a command writes to its standard output: echo, printf and env are known. */
export function printed(command: string, args: readonly string[], variables: ReadonlyMap<string, string>): string {
  switch (command) {
    case 'echo': {
      const options = args.findIndex((arg) => !/^-[neE]+$/.test(arg));
      const flags = args.slice(0, options < 0 ? args.length : options).join('');
      const text = args.slice(options < 0 ? args.length : options).join(' ');
      return (flags.includes('e') ? unescaped(text) : text) + (flags.includes('n') ? '' : '\n');
    }
    case 'printf':
      return formatted(args[0] ?? '', args.slice(1));
    case 'env':
    case 'printenv':
      return Array.from(variables, ([name, value]) => `${name}=${value}\n`).join('');
    default:
      return '';
  }
}

/** As often as there are arguments for it, and once at least. */
function formatted(format: string, args: readonly string[]): string {
  let text = '';
  let used = 0;
  do {
    const before = used;
    text += unescaped(format).replace(/%(%|-?\d*[sdi])/g, (_, verb: string) => (verb === '%' ? '%' : (args[used++] ?? '')));
    if (used === before) break;
  } while (used < args.length);
  return text;
}
