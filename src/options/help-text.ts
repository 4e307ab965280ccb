import { flagsOf, type Option, optionGroups } from './option.ts';
import { allOptions } from './options-table.ts';

const INDENT = ' '.repeat(6);

/** What `--help` prints: every honoured flag, grouped, no line longer than `columns` where words allow it. */
export function helpText(columns: number): string {
  const lines = [
    'rxlet runs the pods that manifests declare on a container engine, as a kubelet does.',
    '',
    'Usage:',
    '  rxlet [flags]                 run the agent',
    '  rxlet validate <manifest>...  check manifests without running them',
    '  rxlet plan <manifest>...      what would change if these manifests replaced others',
    '  rxlet replay <recording>      decide again what was recorded (--record)',
    '  rxlet engines                 list the container engines and what they can do',
    '  rxlet ps                      list the pods on this node',
    '  rxlet logs <pod>              print the log of a container',
    '  rxlet exec <pod> -- <cmd>...  run a command in a container',
    '  rxlet stats [<pod>]           what pods or containers use',
    '  rxlet explain [<pod>|node]    why a pod, or the node, is in its state',
    '  rxlet timeline [<pod>]        what has happened, also before the last restart',
    '  rxlet watch                   all pods and what is going on, live',
    '',
    "Flags are the kubelet's. The kubelet's other flags are accepted and have no effect yet.",
  ];
  for (const group of optionGroups) {
    lines.push('', `${group}:`);
    for (const [, option] of allOptions) if (option.group === group && option.flag !== undefined) lines.push(...entry(option, columns));
  }
  return `${lines.join('\n')}\n`;
}

function entry(option: Option<unknown>, columns: number): readonly string[] {
  const long = flagsOf(option)
    .map((flag) => `--${flag}`)
    .join(', ');
  const short = option.shorthand === undefined ? INDENT : `  -${option.shorthand}, `;
  const type = option.kind.bare === undefined ? ` ${option.kind.name}` : '';
  const notes = [
    defaultOf(option) === '' ? undefined : `default: ${defaultOf(option)}`,
    option.config === undefined ? undefined : `config file: ${option.config}`,
    option.deprecated === undefined ? undefined : `deprecated: ${option.deprecated}`,
  ].filter((note) => note !== undefined);
  const help = notes.length === 0 ? option.help : `${option.help} (${notes.join('; ')})`;
  return [`${short}${long}${type}`, ...wrap(help, columns - INDENT.length - 4).map((line) => `${INDENT}    ${line}`)];
}

/** A bool that is off says nothing about its default. */
export function defaultOf(option: Option<unknown>): string {
  if (option.defaultText !== undefined) return option.defaultText;
  const value = option.default ?? false;
  return value === false ? '' : option.kind.show(value);
}

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
