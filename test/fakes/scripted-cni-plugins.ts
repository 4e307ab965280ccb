import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One call of a plugin, as it was asked. */
export interface SeenCniCall {
  readonly plugin: string;
  readonly command: string;
  readonly netns: string;
  readonly args: string;
  readonly conf: Readonly<Record<string, unknown>>;
}

/** CNI plugins that are shell scripts: each writes down how it was called, and then does what its `script` says with $CNI_COMMAND. */
export class ScriptedCniPlugins {
  readonly binDir: string;
  readonly #seen: string;

  constructor(directory: string) {
    this.binDir = join(directory, 'bin');
    this.#seen = join(directory, 'seen');
  }

  async add(plugin: string, script = ''): Promise<void> {
    await mkdir(this.binDir, { recursive: true });
    const path = join(this.binDir, plugin);
    const text = `#!/bin/sh
conf=$(cat)
if [ "$CNI_COMMAND" = VERSION ]; then
  echo '{"cniVersion":"1.0.0","supportedVersions":["0.2.0","0.3.1","0.4.0","1.0.0"]}'
  exit
fi
printf '%s\\t%s\\t%s\\t%s\\t%s\\n' ${plugin} "$CNI_COMMAND" "$CNI_NETNS" "$CNI_ARGS" "$conf" >>${this.#seen}
${script}
[ "$CNI_COMMAND" != ADD ] || echo '{"cniVersion":"1.0.0"}'
`;
    await writeFile(path, text);
    await chmod(path, 0o755);
  }

  /** Every call so far but those that ask for versions. */
  async calls(): Promise<readonly SeenCniCall[]> {
    const lines = (await readFile(this.#seen, 'utf8').catch(() => '')).split('\n').filter(Boolean);
    return lines.map((line) => {
      const [plugin = '', command = '', netns = '', args = '', conf = '{}'] = line.split('\t');
      return { plugin, command, netns, args, conf: JSON.parse(conf) as SeenCniCall['conf'] };
    });
  }
}
