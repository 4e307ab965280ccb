import { commands, commandTable } from '../options/commands.ts';
import { defaultOf } from '../options/help-text.ts';
import { flagsOf, type Option, optionGroups } from '../options/option.ts';
import { allOptions } from '../options/options-table.ts';
import { agentFlags } from './agent-flags.ts';
import { commandWords } from './command-words.ts';

/** rxlet(8), for man: every command and every honoured flag. It has no date, so that the same release makes the same bytes. */
export function manPage(release: string): string {
  const lines = [
    `.TH RXLET 8 "" "rxlet ${roff(release)}" "System Administration"`,
    '.SH NAME',
    String.raw`rxlet \- a Kubernetes node agent`,
    '.SH SYNOPSIS',
    '.B rxlet',
    '[flags]',
    ...commandTable.flatMap((command) => ['.br', `.B rxlet ${roff(command.name)}`, ...plain(command.arguments)]),
    '.SH DESCRIPTION',
    ...plain('Runs the pods that manifests, a manifest URL or an API server declare on a container engine, as a kubelet does.'),
    ...plain('Stopping it stops no container, and starting it again restarts none.'),
    ...plain('Without a command it is the agent, and takes the flags of a kubelet.'),
    '.SH COMMANDS',
  ];
  for (const name of commands) {
    const { usage, asks } = commandWords[name];
    lines.push(`.SS ${roff(name)}`, ...verbatim(usage));
    if (asks === true && !usage.includes('--root-dir')) lines.push(...verbatim(agentFlags.trim()));
  }
  lines.push('.SH OPTIONS');
  for (const group of optionGroups) {
    lines.push(`.SS ${roff(group)}`);
    for (const [, option] of allOptions) if (option.group === group && option.flag !== undefined) lines.push(...entry(option));
  }
  lines.push(
    '.SH FILES',
    ...file('/etc/rxlet/config.yaml', 'a KubeletConfiguration, where the Debian package looks for it'),
    ...file('/etc/rxlet/manifests', 'manifests of static pods, where the Debian package looks for them'),
    ...file(`${defaultOf(rootDir())}/rxlet.sock`, 'where commands ask the agent; in the root directory'),
    '.SH EXIT STATUS',
    ...plain('0 well, 1 failed, 2 asked for wrongly; exec ends as the command in the container does.'),
    '.SH SEE ALSO',
    '.BR docker (1),',
    '.BR systemctl (1)',
  );
  return `${lines.join('\n')}\n`;
}

const rootDir = (): Option<unknown> => {
  const found = allOptions.find(([name]) => name === 'rootDir');
  if (!found) throw new Error('the options table has no rootDir');
  return found[1];
};

function entry(option: Option<unknown>): readonly string[] {
  const flags = [...(option.shorthand === undefined ? [] : [`-${option.shorthand}`]), ...flagsOf(option).map((flag) => `--${flag}`)];
  const type = option.kind.bare === undefined ? ` \\fI${roff(option.kind.name)}\\fR` : '';
  const notes = [
    defaultOf(option) === '' ? undefined : `default: ${defaultOf(option)}`,
    option.config === undefined ? undefined : `config file: ${option.config}`,
    option.deprecated === undefined ? undefined : `deprecated: ${option.deprecated}`,
  ].filter((note) => note !== undefined);
  const help = notes.length === 0 ? option.help : `${option.help} (${notes.join('; ')})`;
  return ['.TP', `\\fB${flags.map(roff).join('\\fR, \\fB')}\\fR${type}`, ...plain(help)];
}

const file = (path: string, what: string): readonly string[] => ['.TP', `.I ${roff(path)}`, ...plain(what)];
const verbatim = (text: string): readonly string[] => ['.PP', '.nf', ...text.trimEnd().split('\n').map(line), '.fi'];
const plain = (text: string): readonly string[] => (text === '' ? [] : [line(text)]);

/** A dot or an apostrophe at its beginning would be a request. */
const line = (text: string): string => roff(text).replace(/^(?=[.'])/, String.raw`\&`);
/** A dash stays one that can be copied to a command line. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll("'", String.raw`\(aq`)
    .replaceAll('…', '...');
